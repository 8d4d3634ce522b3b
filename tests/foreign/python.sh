# Sets $python to one with networkx, numpy and scipy; where there is none, ends the test: skipped, or, in continuous
# integration (CI=true), failed. Sourced by tests/test_foreign_*.sh.
for python in python3 /usr/bin/python3 none; do
    [ $python != none ] || break
    "$python" -c 'import networkx, numpy, scipy' 2>/dev/null && break
done
if [ $python = none ]; then
    echo "no python3 with networkx and scipy: scripts/install_packages.sh check installs them"
    [ "${CI:-}" = true ] && exit 1
    exit 77
fi
