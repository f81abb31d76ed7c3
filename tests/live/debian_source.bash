# debian_source PACKAGE: unpacks its source below the current folder and prints where. Fails when it cannot be had (no
# apt, no network). Sourced.
debian_source() {
    local lists=$PWD/apt-lists options
    mkdir -p "$lists/partial"
    echo "deb-src http://deb.debian.org/debian $(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}") main" >apt.list
    options=(-qq -o Dir::Etc::SourceList="$PWD/apt.list" -o Dir::Etc::SourceParts=/nonexistent -o Dir::State::Lists="$lists"
             -o APT::Sandbox::User=root -o Acquire::Retries=1)
    if [ ! -e "$lists/ready" ]; then
        timeout 200 apt-get "${options[@]}" update >apt.log 2>&1 && touch "$lists/ready" || return 1
    fi
    timeout 200 apt-get "${options[@]}" source "$1" >>apt.log 2>&1 || return 1
    find "$PWD" -maxdepth 1 -type d -name "$1-*" | head -1
}
