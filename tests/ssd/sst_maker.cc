#include "tests/ssd/sst_maker.h"

#include <algorithm>
#include <cstring>

#include "src/util/check/check.h"

namespace miodb::test {

Status StringSource::Read(uint64_t offset, size_t n, Slice* result, char* scratch) const {
  reads++;
  const size_t begin = static_cast<size_t>(std::min<uint64_t>(offset, contents_.size()));
  const size_t count = std::min(n, contents_.size() - begin);
  memcpy(scratch, contents_.data() + begin, count);
  *result = Slice(scratch, count);
  return Status::OK();
}

std::string MakeSst(const SstFormat& format, const Entries& entries, uint64_t* fingerprint) {
  StringSink sink;
  SstWriter writer(format, &sink);
  for (const auto& [key, value] : entries) writer.Add(key, value);
  CHECK(writer.Finish().ok());
  CHECK_EQ(writer.file_size(), sink.contents.size());
  CHECK_EQ(writer.entries(), entries.size());
  if (fingerprint != nullptr) *fingerprint = writer.fingerprint();
  return sink.contents;
}

Status OpenSst(const SstFormat& format, const std::string& contents, std::unique_ptr<SstReader>* reader,
               Checksums checksums, Cache* cache) {
  return SstReader::Open(format, std::make_shared<StringSource>(contents), "some.sst", contents.size(), checksums,
                         cache, reader);
}

}  // namespace miodb::test
