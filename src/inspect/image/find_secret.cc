#include "src/inspect/image/find_secret.h"

#include <set>
#include <string>

#include "pmtable/table_header.h"
#include "src/format/manifest_area.h"
#include "src/util/check/check.h"

// A search for the pool's secret in everything that names it.

namespace miodb {

namespace {

// The secrets of all structures that have one, at every place where they could lie. A hole has none.
std::set<uint64_t> SecretsIn(const PoolImage& image) {
  std::set<uint64_t> secrets;
  for (const PoolImage::Range& range : image.DataRanges()) {
    for (PmRef at = range.begin; at < range.end; at += kExtentUnit) {
      // An area ends with its footer where an extent ends, a table's index begins with its header where one begins.
      AreaFooter footer;
      if (ReadAreaFooter(image.At(at + kExtentUnit), &footer)) secrets.insert(footer.secret);
      TableHeader header;
      if (ReadAnyTableHeader(image.At(at), &header)) secrets.insert(header.secret);
      if (secrets.size() > 1) return secrets;  // nothing further on could make them one again
    }
  }
  return secrets;
}

}  // namespace

// Two secrets are as bad as none: who forged tables into a value could otherwise choose which ones a repair believes.
Status FindSecret(PoolImage* image, const ReportProblem& report) {
  CHECK(image != nullptr && report != nullptr);
  // A pool of another version is refused later, with words that say so.
  const PoolHeader header = image->Header();
  if (header.has_superblock || header.another_version) return Status::OK();
  const std::set<uint64_t> secrets = SecretsIn(*image);
  if (secrets.size() != 1) {
    return Status::Corruption(
        image->path(),
        std::string("both copies of the superblock are damaged, and ") +
            (secrets.empty() ? "no manifest area and no table is left that says the pool's secret"
                             : "manifest areas or tables of more than one pool are there, or forged ones") +
            ": the pool's own tables and frames cannot be told from values that look like some. "
            "Restore the first 4096 bytes of the file from a copy of it");
  }
  // From here on checksums are compared with this secret, and a report says on what it rests.
  image->UseSecret(*secrets.begin());
  report({"superblock",
          "the pool's secret is that of its tables and manifest areas, which all say the same; if clients that are not "
          "trusted chose values, what is read cannot be told from what they may have forged"});
  return Status::OK();
}

}  // namespace miodb
