/* Cases, their timing, and the JSON that they leave. */
#include "facts.cuh"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace facts
{

namespace
{

std::string quoted(const std::string &text)
{
    std::string json = "\"";
    for (const char c : text) {
        char escaped[8];
        if (static_cast<unsigned char>(c) < 0x20) {
            std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
            json += escaped;
        } else {
            if (c == '"' || c == '\\')
                json += '\\';
            json += c;
        }
    }
    return json + '"';
}

std::string number(double x, const char *format = "%.9g")
{
    char text[40];
    std::snprintf(text, sizeof text, format, x);
    return std::isfinite(x) ? text : quoted(text);
}

std::string list(const std::vector<double> &samples)
{
    std::string json = "[";
    for (const double s : samples)
        json += (json.size() > 1 ? ", " : "") + number(s, "%.4g");
    return json + "]";
}

} // namespace

Field::Field(const char *name_, const std::string &text) : name(name_), json(quoted(text)) {}
/* Whole numbers with all digits: sizes are looked up by their value. */
Field::Field(const char *name_, double x)
    : name(name_), json(number(x, x == std::floor(x) && std::abs(x) < 1e15 ? "%.0f" : "%.9g"))
{
}

std::string json_object(const Fields &fields)
{
    std::string json = "{";
    for (const Field &f : fields)
        json += (json.size() > 1 ? ", " : "") + quoted(f.name) + ": " + f.json;
    return json + "}";
}

double now()
{
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

double median(std::vector<double> samples)
{
    if (samples.empty())
        return 0;
    std::sort(samples.begin(), samples.end());
    const size_t half = samples.size() / 2;
    return samples.size() % 2 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

void synchronize()
{
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
}

#ifdef __CUDACC__

namespace
{

int attribute(cudaDeviceAttr which)
{
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, 0), "device attribute");
    return value;
}

struct Event {
    Event() { check(cudaEventCreate(&event), "event"); }
    ~Event() { (void)cudaEventDestroy(event); }
    Event(const Event &) = delete;
    cudaEvent_t event;
};

} // namespace

int multiprocessors() { return attribute(cudaDevAttrMultiProcessorCount); }
size_t shared_per_block() { return static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)); }

static double time_calls(const std::function<void()> &launch, int calls, const Event &from, const Event &to)
{
    float milliseconds = 0;
    check(cudaEventRecord(from.event), "event");
    for (int k = 0; k < calls; k++)
        launch();
    check(cudaEventRecord(to.event), "event");
    check(cudaGetLastError(), "launch");
    check(cudaEventSynchronize(to.event), "kernel");
    check(cudaEventElapsedTime(&milliseconds, from.event, to.event), "event");
    return milliseconds * 1e-3 / calls;
}

std::vector<double> time_launches(const std::function<void()> &launch, int samples, double seconds)
{
    const Event from, to;
    std::vector<double> taken;
    const double once = time_calls(launch, 1, from, to); /* warms up */
    /* A sample is at least 200 us, so that the events' own resolution of half a microsecond does not show. */
    const int calls = once < 200e-6 ? static_cast<int>(200e-6 / std::max(once, 1e-6)) + 1 : 1;
    const double start = now();
    while (static_cast<int>(taken.size()) < samples && (taken.size() < 3 || now() - start < seconds))
        taken.push_back(time_calls(launch, calls, from, to));
    return taken;
}

#else

int multiprocessors() { return 2; }
size_t shared_per_block() { return 64 * 1024; }

std::vector<double> time_launches(const std::function<void()> &, int, double) { return {1e-6}; }

#endif

Group::Group(std::string name_, Options options_, double limit_, int file_)
    : name(std::move(name_)), chosen(std::move(options_)), limit(limit_), started(now()), file(file_)
{
}

double Group::left() const { return limit - (now() - started); }

void Group::line(const Fields &parameters, const std::string &status, const Fields &measured)
{
    Fields all = {{"group", name}, {"status", status}};
    all.insert(all.end(), parameters.begin(), parameters.end());
    all.insert(all.end(), measured.begin(), measured.end());
    const std::string text = json_object(all) + "\n";
    for (size_t done = 0; done < text.size();) {
        const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
        if (wrote <= 0)
            std::_Exit(1);
        done += static_cast<size_t>(wrote);
    }
}

bool Group::out_of_time(const Fields &parameters)
{
    if (left() > 0)
        return false;
    line(parameters, "skipped: no time left", {});
    return true;
}

void Group::record(const Fields &parameters, const std::vector<double> &samples, const Fields &facts)
{
    Fields measured = facts;
    Field f("seconds", 0.0);
    f.json = list(samples);
    measured.push_back(f);
    line(parameters, "ok", measured);
}

void Group::attempt(const Fields &parameters, const std::function<void()> &work)
{
    if (out_of_time(parameters))
        return;
    try {
        work();
        synchronize();
    } catch (const std::exception &e) {
        line(parameters, std::string("failed: ") + e.what(), {});
        /* After a fault nothing works in this process: the next group has one of its own. */
        if (cudaDeviceSynchronize() != cudaSuccess)
            std::_Exit(3);
        (void)cudaGetLastError(); /* what is written down is not the next case's failure */
    }
}

double Group::run(const Case &c)
{
    double result = 0;
    attempt(c.parameters, [&] {
        c.launch();
        synchronize();
        Fields facts = c.check ? c.check() : Fields{};
        const std::vector<double> samples = time_launches(c.launch, c.samples, c.seconds);
        if (c.facts) {
            const Fields more = c.facts();
            facts.insert(facts.end(), more.begin(), more.end());
        }
        if (c.bytes > 0)
            facts.push_back({"bytes", c.bytes});
        if (c.operations > 0)
            facts.push_back({"operations", c.operations});
        record(c.parameters, samples, facts);
        result = median(samples);
    });
    return result;
}

} // namespace facts
