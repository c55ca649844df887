# The first tier of the claims, on a clean Debian 12. The build needs the network, the run does not:
#
#   docker build -t miodb .
#   docker run --rm --network=none --shm-size=8g -v "$PWD/results:/miodb/results" miodb
#
# Databases lie on /dev/shm, so --shm-size is what they may take.

FROM debian:12
WORKDIR /miodb

# Packages first, so that a change of the sources does not fetch them again.
COPY test_sh/install_deps.sh test_sh/lib.sh test_sh/
RUN apt-get update \
 && apt-get install -y --no-install-recommends git \
 && test_sh/install_deps.sh \
 && rm -rf /var/lib/apt/lists/*

COPY . .
RUN test_sh/claims.sh --build-only

CMD ["test_sh/claims.sh"]
