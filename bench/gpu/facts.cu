/* facts --part N: measures what the GPU backend is planned from, and writes one JSON file.
 *
 * Each group of measurements runs in a process of its own, forked before anything touches the device: a group
 * that faults or hangs is cut off and the others go on, and what it had written stays. README.md lists the
 * parts. */
#include "support/facts.cuh"
#include "support/graphs.cuh"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace facts;

namespace
{

constexpr int EVERY_PART = 0; /* runs first in each part */

const Entry entries[] = {
#ifdef __CUDACC__
    {EVERY_PART, "device", 20, machine_device},
#endif
    {1, "read", 60, machine_read},
    {1, "gather", 100, machine_gather},
    {1, "shared", 40, machine_shared},
    {1, "atomics", 40, machine_atomics},
#ifdef __CUDACC__
    {1, "launch", 30, machine_launch},
    {1, "host", 60, machine_host},
    {1, "compile", 60, machine_compile},
    {2, "cusparse-spmm", 430, sparse_spmm},
    {3, "cusparse-reproducible", 100, sparse_reproducible},
    {3, "cusparse-sddmm", 95, sparse_sddmm},
    {3, "cusparse-spmv", 35, sparse_spmv},
    {3, "cusparse-spmm-op", 85, sparse_spmm_op},
    {3, "cusparse-spgemm", 115, sparse_spgemm},
#endif
    {4, "spmm-direct", 215, prototype_spmm_direct},
    {4, "spmm-hybrid", 215, prototype_spmm_hybrid},
    {5, "sddmm", 150, prototype_sddmm},
    {5, "attention", 110, prototype_attention},
    {5, "sampler", 80, prototype_sampler},
    {5, "counts", 90, prototype_counts},
};

struct Run {
    Options options;
    int part = 0;
    std::string out;
};

/* The child's side: one group, whose lines go to `file`. */
[[noreturn]] void measure(const Entry &e, const Options &options, double limit, int file)
{
    alarm(static_cast<unsigned>(limit) + 30); /* a kernel that never ends */
    int status = 0;
    try {
        Group group(e.name, options, limit, file);
        group.attempt({}, [&] { e.measure(group); });
    } catch (const std::exception &error) {
        std::cerr << e.name << ": " << error.what() << "\n";
        status = 1;
    }
    std::_Exit(status);
}

/* How a child ended, as a line of JSON; empty if well. */
std::string ending(const Entry &e, int status)
{
    std::ostringstream how;
    if (WIFSIGNALED(status))
        how << (WTERMSIG(status) == SIGALRM ? "failed: cut off after its time" : "failed: ended by a signal ")
            << (WTERMSIG(status) == SIGALRM ? "" : strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        how << "failed: the device was lost; exit status " << WEXITSTATUS(status);
    return how.str().empty() ? "" : json_object({{"group", e.name}, {"status", how.str()}});
}

/* Runs a group in a child; returns its lines. */
std::vector<std::string> run_group(const Entry &e, const Options &options, double limit)
{
    std::vector<std::string> lines;
    int ends[2];
    if (pipe(ends) != 0)
        throw Failure("pipe");
    std::cout.flush();
    const pid_t child = fork();
    if (child < 0)
        throw Failure("fork");
    if (child == 0) {
        close(ends[0]);
        measure(e, options, limit, ends[1]);
    }
    close(ends[1]);
    std::string text;
    char piece[65536];
    for (ssize_t n; (n = read(ends[0], piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR);)
        text.append(piece, n > 0 ? static_cast<size_t>(n) : 0);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);)
        if (!line.empty() && line.back() == '}') /* a line that the child could not end is dropped */
            lines.push_back(line);
    const std::string end = ending(e, status);
    if (!end.empty())
        lines.push_back(end);
    return lines;
}

std::string utc_time()
{
    char text[32];
    const std::time_t t = std::time(nullptr);
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
    return text;
}

/* Answers of nvidia-smi, which need no CUDA in this process. */
std::string driver_state()
{
    std::string text;
    FILE *p =
        popen("nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,"
              "temperature.gpu,power.draw,power.limit,clocks_event_reasons.active --format=csv,noheader "
              "2> /dev/null",
              "r");
    char line[512];
    while (p && std::fgets(line, sizeof line, p))
        text += line;
    if (p)
        pclose(p);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

void write_part(const Run &run, const Fields &head, const std::vector<std::string> &lines)
{
    const std::string temporary = run.out + ".part";
    std::ofstream file(temporary);
    const std::string fields = json_object(head);
    file << fields.substr(0, fields.size() - 1) << ", \"cases\": [";
    for (size_t k = 0; k < lines.size(); k++)
        file << (k ? ",\n" : "\n") << lines[k];
    file << "\n]}\n";
    file.close();
    if (!file || std::rename(temporary.c_str(), run.out.c_str()) != 0)
        throw Failure("cannot write " + run.out);
}

bool runs(const Entry &e, const Run &run)
{
    return e.part == run.part && std::string(e.name).find(run.options.only) != std::string::npos;
}

/* A group's limit: its share of the whole, and what is left beyond the shares of those that follow. */
double share(const Entry &e, const Run &run, double left)
{
    double following = 0;
    for (const Entry *other = &e + 1; other != std::end(entries); other++)
        following += runs(*other, run) ? other->seconds : 0;
    const double own = e.seconds / (e.seconds + following);
    return std::min({left, e.seconds, std::max(left * own, left - following)});
}

int run_part(const Run &run)
{
    if (std::none_of(std::begin(entries), std::end(entries), [&](const Entry &e) { return runs(e, run); }))
        throw Failure("no such part or group; facts --list names them");
    const double start = now();
    int failed = 0;
    std::vector<std::string> lines;
    Fields head = {{"format", 1},
                   {"part", run.part},
                   {"started", utc_time()},
                   {"seed", static_cast<int64_t>(run.options.seed)},
                   {"toy", run.options.toy},
                   {"emulated", bool{EMULATED}},
                   {"before", driver_state()}};
    for (const Entry &e : entries) {
        if (!runs(e, run) && e.part != EVERY_PART)
            continue;
        const double left = run.options.budget - (now() - start), limit = share(e, run, left);
        if (left < 5) {
            lines.push_back(json_object({{"group", e.name}, {"status", "skipped: no time left"}}));
            continue;
        }
        const double began = now();
        const std::vector<std::string> more = run_group(e, run.options, limit);
        size_t bad = 0;
        for (const std::string &line : more)
            bad += line.find("\"status\": \"failed") != std::string::npos;
        failed += static_cast<int>(bad);
        std::cout << e.name << ": " << more.size() << " cases, " << bad << " failed, " << now() - began
                  << " s" << std::endl;
        lines.insert(lines.end(), more.begin(), more.end());
        Fields whole = head;
        whole.push_back({"elapsed", now() - start});
        whole.push_back({"after", driver_state()});
        write_part(run, whole, lines); /* after every group: a part that is cut off leaves what it has */
    }
    for (const std::string &line : lines)
        if (line.find("\"status\": \"failed") != std::string::npos)
            std::cout << "  " << line.substr(0, 300) << "\n";
    return run.options.toy && failed ? 1 : 0;
}

int list_parts()
{
    for (const Entry &e : entries)
        std::cout << e.part << "  " << e.name << "  (at most " << e.seconds << " s)\n";
    return 0;
}

int usage(int status)
{
    (status ? std::cerr : std::cout) << "usage: facts --part N [--out FILE] [--only GROUP] [--toy|--full] "
                                        "[--seed S] [--budget SECONDS] [--graphs DIR]\n"
                                        "       facts --list\n"
                                        "       facts --make-graphs --graphs DIR [--only NAME]\n";
    return status;
}

} // namespace

int main(int argc, char **argv)
try {
    Run run;
    bool make_graphs = false;
    for (int k = 1; k < argc; k++) {
        const std::string option = argv[k];
        if (option == "--toy") {
            run.options.toy = true;
        } else if (option == "--full") {
            run.options.toy = false;
        } else if (option == "--list") {
            return list_parts();
        } else if (option == "--help") {
            return usage(0);
        } else if (option == "--make-graphs") {
            make_graphs = true;
        } else if (k + 1 == argc) {
            return usage(2);
        } else if (option == "--part") {
            run.part = std::stoi(argv[++k]);
        } else if (option == "--out") {
            run.out = argv[++k];
        } else if (option == "--only") {
            run.options.only = argv[++k];
        } else if (option == "--seed") {
            run.options.seed = std::stoull(argv[++k]);
        } else if (option == "--budget") {
            run.options.budget = std::stod(argv[++k]);
        } else if (option == "--graphs") {
            run.options.graphs = argv[++k];
        } else {
            return usage(2);
        }
    }
    if (make_graphs) {
        for (const std::string &name : graph_names())
            if (name.find(run.options.only) != std::string::npos)
                std::cout << name << ": " << load_graph(name, run.options).nvals() << " entries" << std::endl;
        return 0;
    }
    if (run.part == 0)
        return usage(2);
    if (run.out.empty())
        run.out = "part" + std::to_string(run.part) + ".json";
    return run_part(run);
} catch (const std::exception &e) {
    std::cerr << "facts: " << e.what() << "\n";
    return 1;
}
