# SPDX-License-Identifier: MIT
"""What a program gets with the library, read from the file as built."""

import importlib.machinery
import importlib.util
import os
import platform
import re
import sys
import tempfile

import tree
from harness import LIBRARY

TLS_BYTES = 64
GLIBC = (2, 34)

# Families of exports; exports.txt lists them one by one.
EXPORTS = re.compile(
    r"malloc|calloc|realloc|reallocarray|free|cfree|free_sized"
    r"|free_aligned_sized|posix_memalign|aligned_alloc|memalign|valloc|pvalloc"
    r"|malloc_usable_size|mmap(64)?|munmap|mremap|s?brk"
    r"|GOMP_\w+|omp_set_lock_?"
    r"|_?fork|forkpty|vfork|_Fork|daemon|clone|syscall|prctl|capset|unshare|setns|close_range"
    r"|posix_spawnp?|system|popen"
    r"|exec[lv]p?e?|execvpe|fexecve|execveat|_exit|_Exit|exit|quick_exit|abort|kill|raise"
    r"|poll|ppoll|p?select|epoll_wait|read|pread|pread64|write|recv|send|sendmsg"
    r"|nanosleep|clock_nanosleep|u?sleep|pthread_barrier_wait|wait4|waitid"
    r"|fsync|fdatasync|sem_wait|sem_timedwait|pthread_join"
    r"|pthread_cond_(wait|timedwait|clockwait|signal|broadcast)|sem_clockwait|sem_post"
    r"|pthread_mutex_lock|pthread_rwlock_(rd|wr)lock|epoll_pwait|accept4?|recvfrom"
    r"|__(p?read(64)?|fread|p?poll|recv|recvfrom)_chk"
    r"|recvmsg|pipe2|waitpid|readv|writev|pwrite|pwrite64|fread"
    r"|p(read|write)v((64)?(v2)?|2)|sendfile(64)?|copy_file_range|fopen(64)?|dl_iterate_phdr"
    r"|mtx_lock|cnd_((timed)?wait|signal|broadcast)|thrd_(sleep|join)|timer_create"
    r"|sigaltstack|pthread_getattr_np|pthread_create|thrd_create|dlclose|traceprof_\w+"
    r"|InitializeInjection(Nvtx2?)?|ompt_start_tool|__itt_api_init"
    r"|_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"
    r"|(__cuda|cuda|cu|nccl|cblas_)\w+|dnnl_primitive_execute"
    r"|(scipy_|scipy_cblas_)?[sdcz](gemm|gemv|syrk|herk|trsm|trmm|symm|getrf|potrf"
    r"|geqrf|gesv|getrs|gesdd|syevd|heevd|geev|gelsd|gemm_batch|gesvd|syevr?|heevr?|getri|potri"
    r"|orgqr|ungqr|ormqr|unmqr)(64_|_64_|_)?")


def library():
    tree.expect(os.path.exists(LIBRARY), f"{LIBRARY} is not built")
    return LIBRARY


def symbols():
    """(name with version, defined, binding) of the dynamic symbols."""
    for line in tree.output("readelf", "--dyn-syms", "-W", library()).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].rstrip(":").isdigit():
            yield (fields[7], fields[6] != "UND" and fields[5] != "HIDDEN", fields[4])


def test_needs_libc_alone():
    needed = re.findall(r"NEEDED.*\[(.*)\]",
                        tree.output("readelf", "-dW", library()))
    others = [name for name in needed
              if name != "libc.so.6" and not name.startswith("ld-linux")]
    tree.no_faults([f"needs {name}" for name in others])


def test_what_each_process_runs_lies_beside_the_symbols():
    """The kernel maps 64 KiB at once: the loader has touched that when it runs."""
    found = {name: int(at, 16) for at, name in re.findall(
        r"^([0-9a-f]+) [tT] (construct|life_end|process_matters)$",
        tree.output("nm", library()), re.M)}
    tree.expect(len(found) == 3, f"of what each process runs only {found} is there")
    tree.no_faults([f"{name} lies at {at:#x}" for name, at in found.items() if at >= 1 << 16])

def test_no_system_call_of_ours_may_be_the_programs():
    """What a program in C calls `read` or `signal` stands before the C library's, for us too."""
    listed = re.search(r"^OWN_CALLS :=((?:[^\\\n]|\\\n)*)$", tree.read("Makefile"), re.M)
    names = listed[1].replace("\\", " ").split()
    tree.expect(len(names) > 20, f"of the Makefile's list only {names} was read")
    asked = set(re.findall(r"R_\S*(?:JUMP_SL|GLOB_DA)\S*\s+\S+ (\w+)",
                           tree.output("readelf", "-rW", library())))
    tree.no_faults([f"asks for {name} by name" for name in names if name in asked])


def test_symbols_and_code_are_on_pages_of_their_own():
    """preload/process/hook_hide.c takes the right to be run from the symbols' pages."""
    sections = {name: (int(at, 16), int(size, 16)) for name, at, size in re.findall(
        r"\] (\.\S+) +\S+ +([0-9a-f]+) \S+ ([0-9a-f]+)",
        tree.output("readelf", "-SW", library()))}
    symbols_end = sum(sections[".dynsym"])
    code = min(sections[name][0] for name in (".plt", ".text"))
    tree.expect(symbols_end // 4096 < code // 4096, f"{symbols_end:#x} and {code:#x}")


def test_runs_on_older_glibc():
    faults = []
    for name, defined, binding in symbols():
        version = re.search(r"@GLIBC_(\d+)\.(\d+)", name)
        if (not defined and version and binding != "WEAK"
                and tuple(map(int, version.groups())) > GLIBC):
            faults.append(name)
    tree.no_faults(faults)


def test_asks_the_processor_nothing_at_load():
    """libgcc's constructor would, in each process: slow in a virtual machine."""
    names = tree.output("nm", library())
    tree.expect("__cpu_indicator_init" not in names,
                "__builtin_cpu_supports() is used: see writer/deflate/processor.h")


def test_handlers_align_their_stack():
    """The kernel does before it enters one, qemu-x86_64 7.2 doesn't: a guest's next
    aligned store ended it."""
    if platform.machine() != "x86_64":
        return
    tree.no_faults([name for name in ("handle", "handle_sample") if not re.search(
        r"and +\$0xfffffffffffffff0,%rsp",
        tree.output("objdump", "-d", f"--disassemble={name}", library()))])


def test_nothing_that_allocates_behind_our_back_is_called():
    """Our threads must not go through the program's allocator, which may be none for two."""
    names = {name.split("@")[0] for name, defined, _ in symbols() if not defined}
    allocating = {"asprintf", "calloc", "fdopendir", "fopen", "fopen64", "ftw", "getdelim",
                  "getline", "getpwnam", "getpwuid", "glob", "malloc", "nftw",
                  "open_memstream", "opendir", "popen", "qsort", "qsort_r", "realloc",
                  "scandir", "scandir64", "setlocale", "strdup", "strndup", "timer_create"}
    tree.no_faults(sorted(names & allocating))


def test_exports_are_the_list():
    names = sorted(name for name, defined, _ in symbols() if defined)
    versioned = [name for name in names if "@" in name]
    tree.expect(not versioned, "exports with a version node", versioned)
    tree.no_faults([f"of no known family: {name}" for name in names
                    if not EXPORTS.fullmatch(name)])
    path = os.path.join(tree.ROOT, "tests", "structure", "exports.txt")
    if os.environ.get("UPDATE_GOLDEN"):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(names) + "\n")
    with open(path, encoding="utf-8") as file:
        listed = file.read().split()
    with open(os.path.join(os.path.dirname(library()), "config.mk"), encoding="utf-8") as file:
        if "HAVE_CUPTI" not in file.read():     # its functions can't be declared
            listed = [name for name in listed if not name.startswith("cupti")]
    tree.no_faults([f"exported, not in exports.txt: {name}"
                    for name in sorted(set(names) - set(listed))]
                   + [f"in exports.txt, not exported: {name}"
                      for name in sorted(set(listed) - set(names))])


def test_each_hook_has_tests_that_would_miss_it():
    """tests/hooks knows them for every name, and for no other."""
    source = os.path.join(tree.ROOT, "tests", "hooks")
    loader = importlib.machinery.SourceFileLoader("hooks", source)
    hooks = importlib.util.module_from_spec(importlib.util.spec_from_loader("hooks", loader))
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(hooks)
    sys.dont_write_bytecode = kept
    with open(library(), "rb") as file:
        names = {name for name, _ in hooks.symbol_entries(file.read())}
    tree.harness.expect_equal(sorted(names), sorted(
        name for name, defined, _ in symbols() if defined))
    tree.no_faults([f"tests/hooks has no tests for {name}" for name in sorted(names)
                    if not hooks.scenarios_of(name)])
    scenarios = {one for _, several in hooks.FAMILIES for one in several}
    tree.no_faults([f"tests/hooks names {one}, which is not there" for one in sorted(scenarios)
                    if not os.path.exists(os.path.join(tree.ROOT, "tests", "scenarios", one))])


def test_a_function_for_large_files_is_the_same_one():
    """As in the C library.  memray compares mmap's address with that which its own code,
    built for large files, is bound to."""
    at = {name: address for address, name in re.findall(
        r"^([0-9a-f]+) [TW] (\w+)$", tree.output("nm", "-D", "--defined-only", library()),
        re.M)}
    tree.expect({"mmap64", "fopen64", "pread64"} <= set(at), "there are some")
    tree.no_faults([f"{name} and {name}64 are two functions" for name in at
                    if f"{name}64" in at and at[name] != at[f"{name}64"]])


def test_no_version_definitions():
    text = tree.output("readelf", "-VW", library())
    tree.expect("Version definition section" not in text, text)


def test_thread_local_storage_is_small_and_static():
    segment = re.search(r"^\s+TLS\s+(?:0x\w+\s+){4}0x(\w+)",
                        tree.output("readelf", "-lW", library()), re.M)
    tree.expect(segment, "no TLS segment at all")
    size = int(segment.group(1), 16)
    tree.expect(size <= TLS_BYTES, f"{size} bytes of TLS")
    relocations = tree.output("readelf", "-rW", library())
    dynamic = re.findall(r"R_\w+_(?:DTPMOD|DTPOFF|TLSDESC)\w*", relocations)
    tree.expect(not dynamic, "dynamic TLS", dynamic)


def test_stays_loaded_and_binds_itself():
    """Who must be bound at once sees to it (preload/process/binding.c)."""
    text = tree.output("readelf", "-dW", library())
    tree.expect("NODELETE" in text, "not linked with NODELETE")
    tree.expect("NOW" not in text, "linked with NOW")
    tree.expect("TEXTREL" not in text, "text relocations")
    tree.expect("SYMBOLIC" not in text, "linked with -Bsymbolic")


def test_a_library_that_is_installed_later_is_found():
    """Whoever reads "install libyajl-dev and make again" does just that."""
    with tempfile.TemporaryDirectory() as work:
        lacks, compiler = os.path.join(work, "lacks"), os.path.join(work, "cc")
        with open(compiler, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n[ -e {lacks} ] && case \" $* \" in\n"
                       "*' -lyajl '*) exit 1 ;;\nesac\nexec gcc \"$@\"\n")
        os.chmod(compiler, 0o755)
        config = os.path.join(work, "config.mk")

        def omitted():
            tree.output("make", "-C", tree.ROOT, f"O={work}", f"CC={compiler}", config)
            with open(config, encoding="utf-8") as file:
                return "yajl" in re.search("^OMITTED.*", file.read(), re.M).group()

        open(lacks, "w", encoding="utf-8").close()
        tree.expect(omitted(), "what lacks is not said")
        os.remove(lacks)
        tree.expect(not omitted(), "what was installed since is not found")


if __name__ == "__main__":
    tree.main()
