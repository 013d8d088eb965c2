//! Take it away: stand first in line, have the lease marked, wait for its holder to stop.
#![forbid(unsafe_code)]

use crate::store::{Acquisition, Mode, Request, Revocation, StoreError, Theft, Victim};

use super::acquire::{Asker, Busy, CALL, Obtained, Patience, SILENCE, acquire, leave};

/// What stealing came to.
#[derive(Debug)]
#[must_use]
pub struct Stolen {
    /// From whom it was taken; nobody, where nobody had it any more.
    pub victims: Vec<Victim>,
    /// Whether it is ours now. A victim that was told to stop stops also when we do not wait for it. None: somebody has it
    /// whom the person was not shown, and nothing was taken.
    pub obtained: Option<Obtained>,
}

/// Takes every resource of the request away from whoever has it, and waits for it that long. A quarantine is no holder:
/// nothing is taken then.
///
/// # Errors
/// The store could not answer, or has nothing that could be taken away. Leases may be marked: `locked status` shows it.
pub fn steal(
    mut request: Request,
    theft: &Theft,
    patience: Patience,
    asker: &mut Asker<'_>,
) -> Result<Stolen, StoreError> {
    // Order: in line before the holder is told, so that nobody who has waited is let in between.
    request.mode = Mode::Wait { silence: SILENCE };
    let mut sent = asker.clock.now();
    let (blockers, ahead, deadlock) = loop {
        match asker.store.acquire(&request, CALL)? {
            Acquisition::Granted(granted) => {
                return Ok(Stolen { victims: Vec::new(), obtained: Some(Obtained::Granted { granted, sent }) });
            }
            Acquisition::Busy { blockers, ahead, deadlock } => {
                // sudo drops the environment; the process tree still says whose child we are.
                if !asker.stands_below(&mut request, &blockers, &mut Vec::new()) {
                    break (blockers, ahead, deadlock);
                }
            }
        }
        sent = asker.clock.now();
    };
    if deadlock {
        // It could not be had, so it is taken from nobody: the holder's end would be ours.
        leave(&request, asker);
        let waited = sent.until(asker.clock.now());
        return Ok(Stolen {
            victims: Vec::new(),
            obtained: Some(Obtained::Busy(Busy { blockers, ahead, waited, deadlock })),
        });
    }
    let victims = match asker.store.revoke(&request.resources, theft, CALL) {
        Ok(Revocation::Revoked(victims)) => victims,
        Ok(Revocation::Nothing) => Vec::new(),
        Ok(Revocation::Quarantined) => {
            leave(&request, asker);
            let waited = sent.until(asker.clock.now());
            return Ok(Stolen {
                victims: Vec::new(),
                obtained: Some(Obtained::Quarantined(Busy { blockers, ahead, waited, deadlock })),
            });
        }
        Ok(Revocation::Changed) => {
            leave(&request, asker);
            return Ok(Stolen { victims: Vec::new(), obtained: None });
        }
        Err(error) => {
            leave(&request, asker);
            return Err(error);
        }
    };
    Ok(Stolen { victims, obtained: Some(acquire(request, patience, asker)?) })
}
