/* What every part uses: options, a case with its samples, and the lines of JSON that a group writes. */
#pragma once

#include "device.cuh"

#include <functional>
#include <string>
#include <vector>

namespace facts
{

struct Options {
    bool toy =
        EMULATED; /* graphs of a few hundred vertices, one sample: tries the program, measures nothing */
    uint64_t seed = 1;
    std::string only;        /* groups whose name contains this */
    std::string graphs = ""; /* folder where generated graphs are kept; empty: not kept */
    double budget = 440;     /* seconds for the part */
};

/* A value of a case: a number or a text, as JSON. */
struct Field {
    Field(const char *name_, const std::string &text);
    Field(const char *name_, const char *text) : Field(name_, std::string(text)) {}
    Field(const char *name_, double number);
    Field(const char *name_, int number) : Field(name_, static_cast<double>(number)) {}
    Field(const char *name_, int64_t number) : Field(name_, static_cast<double>(number)) {}
    Field(const char *name_, size_t number) : Field(name_, static_cast<double>(number)) {}
    Field(const char *name_, bool yes) : name(name_), json(yes ? "true" : "false") {}
    std::string name, json;
};
using Fields = std::vector<Field>;

std::string json_object(const Fields &fields);

/* One measurement: what it was, what it moved, how long each run took, whether its result was right. */
struct Case {
    Fields parameters; /* graph, d, tile ... */
    double bytes = 0;  /* that the case must move, by its own account; 0: not told */
    double operations = 0;
    std::function<void()> launch; /* puts the work on the default stream */
    std::function<Fields()> check =
        {}; /* after the first launch: {"error", x} and the like; throws when wrong */
    std::function<Fields()> facts = {}; /* more facts, after the timing: buffer sizes, counts */
    int samples = 11;
    double seconds = 0.5; /* that all samples together may take */
};

/* One group of measurements, in a process of its own; writes a line of JSON for every case. */
class Group
{
  public:
    Group(std::string name_, Options options_, double limit_, int file_);
    const Options &options() const { return chosen; }
    bool toy() const { return chosen.toy; }
    /* Runs, checks and times a case. What fails is written down, and the group goes on, unless the device is
     * lost. Returns the median in seconds, or 0 where there is none. */
    double run(const Case &c);
    /* Writes what was measured otherwise: samples in seconds. */
    void record(const Fields &parameters, const std::vector<double> &samples, const Fields &facts = {});
    /* Runs `work`, which measures several cases, and writes down a failure that ends it. */
    void attempt(const Fields &parameters, const std::function<void()> &work);
    /* Seconds that are left of the group's limit. */
    double left() const;
    bool out_of_time(const Fields &parameters);

  private:
    void line(const Fields &parameters, const std::string &status, const Fields &measured);
    std::string name;
    Options chosen;
    double limit, started;
    int file;
};

double now(); /* seconds of a monotonic clock */
void synchronize();
double median(std::vector<double> samples);
/* Seconds per call of each sample; calls are repeated within a sample until it is long enough to be timed. */
std::vector<double> time_launches(const std::function<void()> &launch, int samples, double seconds);

/* The groups of a part, in the order in which they run; each gets at most its seconds. */
struct Entry {
    int part;
    const char *name;
    double seconds;
    void (*measure)(Group &group);
};

void machine_device(Group &);
void machine_read(Group &);
void machine_gather(Group &);
void machine_shared(Group &);
void machine_atomics(Group &);
void machine_launch(Group &);
void machine_host(Group &);
void machine_compile(Group &);
void sparse_spmm(Group &);
void sparse_reproducible(Group &);
void sparse_sddmm(Group &);
void sparse_spmv(Group &);
void sparse_spmm_op(Group &);
void sparse_spgemm(Group &);
void prototype_spmm_direct(Group &);
void prototype_spmm_hybrid(Group &);
void prototype_sddmm(Group &);
void prototype_attention(Group &);
void prototype_sampler(Group &);
void prototype_counts(Group &);

} // namespace facts
