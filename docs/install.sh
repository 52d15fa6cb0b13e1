#!/bin/sh
# Installs the newest release of agent, or AGENT_VERSION, into ~/.local/bin, or
# AGENT_BIN. What was downloaded is checked against the release's checksums first.
set -eu

releases=${AGENT_RELEASES:-https://github.com/phero-agent/agent/releases}
bin=${AGENT_BIN:-$HOME/.local/bin}

fail() { echo "install: $*" >&2; exit 1; }

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "there is no release for $(uname -s): go install github.com/phero-agent/agent@latest" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no release for $(uname -m): go install github.com/phero-agent/agent@latest" ;;
esac
command -v curl >/dev/null || fail "curl is needed"

version=${AGENT_VERSION:-}
if [ -z "$version" ]; then
  latest=$(curl -fsSL -o /dev/null -w '%{url_effective}' "$releases/latest") || fail "the newest release cannot be found: set AGENT_VERSION"
  version=${latest##*/v}
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive=agent_${version}_${os}_${arch}.tar.gz
for file in "$archive" checksums.txt; do
  curl -fsSL -o "$work/$file" "$releases/download/v$version/$file" || fail "$releases/download/v$version/$file cannot be downloaded"
done
want=$(awk -v f="$archive" '$2 == f { print $1 }' "$work/checksums.txt")
if command -v sha256sum >/dev/null; then
  got=$(sha256sum "$work/$archive" | cut -d ' ' -f 1)
else
  got=$(shasum -a 256 "$work/$archive" | cut -d ' ' -f 1)
fi
[ -n "$want" ] && [ "$got" = "$want" ] || fail "the checksum of $archive is wrong: nothing was installed"
tar -xzf "$work/$archive" -C "$work" agent
mkdir -p "$bin"
mv "$work/agent" "$bin/agent.new"
mv "$bin/agent.new" "$bin/agent"
echo "$bin/agent is installed: $("$bin/agent" --version)"
case ":$PATH:" in
*":$bin:"*) ;;
*) echo "$bin is not in PATH" ;;
esac
