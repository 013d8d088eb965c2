//! The dotenv store: one `KEY=value` per line, `#` lines are comments, the metadata are keys that begin with `sops_`.
//! No quoting, no white space rules (getsops/sops `stores/dotenv/store.go`).
#![forbid(unsafe_code)]

use super::keys::{NodeId, Segment};
use super::{Draft, Flawed};

pub(super) fn read(text: &str, draft: &mut Draft) -> Result<(), Flawed> {
    for (number, line) in text.split('\n').enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = line.split_once('=').ok_or((number + 1, "a line without `=`"))?;
        // With CRLF the value of metadata ends in a CR, at which sops fails; that is a finding of its own.
        match name.strip_prefix("sops_") {
            Some(name) => draft.metadata.put(name, &value.trim_end_matches('\r').replace("\\n", "\n")),
            None => {
                let node = draft.node(NodeId::ROOT, Segment::Key(name.into()));
                draft.value(node, Some(value));
            }
        }
    }
    Ok(())
}
