//! `restore --accept`: the file that lies there is looked at and taken as it is.
#![forbid(unsafe_code)]

use crate::canary::{Fault, Verdict};
use crate::cli::adopt::is_resealed;
use crate::holder::ProcFs;
use crate::rules;
use crate::run;
use crate::store::ReceiptKind;
use crate::terms::Digest;

use super::left::Left;
use super::{Done, Work};

impl Work<'_> {
    pub(super) fn accept(&self) -> Result<Done, Box<Left>> {
        let content = self.content()?;
        let sops = format!("locked sops encrypt -i{} {}", rules::types(&self.target.path), self.shown);
        match self.look(&self.target.path) {
            Verdict::Unverified(_) if is_resealed(self.context, &self.target, &content) => {
                let next = format!("locked restore {}", self.shown);
                return Err(self.still_bad(Fault::Merged.to_string(), "no", &next));
            }
            Verdict::Sound | Verdict::Unverified(_) => {}
            Verdict::OpenEdit => {
                return Err(self.still_bad("it is plaintext".to_owned(), "yes, after the next step", &sops));
            }
            Verdict::Bad(fault) => {
                return Err(self.still_bad(fault.to_string(), "no", &format!("locked restore {}", self.shown)));
            }
        }
        let version = Digest::of(&content);
        let chain = self.hold.chain(&self.target);
        let base = match run::taken(self.context, &ProcFs::host(), &self.at_hand(&content, &version), &chain) {
            Ok(base) => base,
            Err(_) if self.accepts_stale => None,
            Err(refusal) => return Err(Left::of_stale(*refusal)),
        };
        self.keep(&content);
        let receipt = run::receipt_of(self.context, &self.target, base, &content, ReceiptKind::Adopted);
        Ok(self.done(&version, Some(receipt), format!("accepted {} as it is", self.shown), "as it is"))
    }
}
