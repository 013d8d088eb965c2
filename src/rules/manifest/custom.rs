//! What a kustomization makes, and what it takes in.
#![forbid(unsafe_code)]

use super::walk::walk;

/// What a kustomization says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Custom {
    pub(super) generated: Vec<String>,
    pub(super) taken: Vec<String>,
    pub(super) prefix: String,
    pub(super) suffix: String,
}

impl Custom {
    pub(super) fn read(text: &[u8]) -> Self {
        let mut custom = Self::default();
        let _broken = walk(text, &mut |node| {
            match node.under.as_slice() {
                [] => {
                    custom.prefix = node.text("namePrefix").unwrap_or_default().to_owned();
                    custom.suffix = node.text("nameSuffix").unwrap_or_default().to_owned();
                }
                [list] if list == "secretGenerator" => custom.generated.extend(node.text("name").map(str::to_owned)),
                _ => {}
            }
            let taken = ["resources", "bases", "components"]
                .iter()
                .filter_map(|key| node.lists.iter().find(|(own, _)| own == key));
            if node.under.is_empty() {
                custom.taken.extend(taken.flat_map(|(_, words)| words.clone()));
            }
        });
        custom
    }
}
