//! What a check has to say: one thing, why it matters, and what to do about it.
#![forbid(unsafe_code)]

use crate::store::printable;

use super::patient::Patient;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Ok,
    /// To be known; nothing is wrong.
    Note,
    /// A lock may be missed, or will be.
    Warn,
    /// Something does not work, or goes around the locks now.
    Fault,
}

impl Level {
    /// Its word, in text and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warn => "warning",
            Self::Fault => "fault",
        }
    }
}

/// What mends it; what was done, or why not. Only what cannot make anything worse.
pub(super) type Fix = Box<dyn FnOnce(&Patient<'_>) -> Result<String, String>>;

/// One finding. No text of it has a secret, an address's password, or a character that does not show as itself.
pub struct Finding {
    /// Names the kind of finding for ever: `check.thing`, lower-case with dashes.
    pub id: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What was found, in one sentence.
    pub what: String,
    /// Why that matters; empty where it goes without saying.
    pub why: String,
    /// One command or sentence; empty where there is nothing to do.
    pub remedy: String,
    /// What `--fix` has done about it, or why it could not.
    pub mended: Option<Result<String, String>>,
    pub(super) fix: Option<Fix>,
}

impl std::fmt::Debug for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { id, level, what, remedy, .. } = self;
        write!(f, "{} {id}: {what} -> {remedy}", level.as_str())
    }
}

impl Finding {
    pub(super) fn new(id: &'static str, level: Level, what: &str, why: &str, remedy: &str) -> Self {
        Self {
            id,
            level,
            what: printable(what),
            why: printable(why),
            remedy: printable(remedy),
            mended: None,
            fix: None,
        }
    }

    pub(super) fn ok(id: &'static str, what: impl AsRef<str>) -> Self {
        Self::new(id, Level::Ok, what.as_ref(), "", "")
    }

    /// Why it matters and what to do come after: [`Finding::because`], [`Finding::remedy`].
    pub(super) fn note(id: &'static str, what: impl AsRef<str>) -> Self {
        Self::new(id, Level::Note, what.as_ref(), "", "")
    }

    /// As [`Finding::note`].
    pub(super) fn warn(id: &'static str, what: impl AsRef<str>) -> Self {
        Self::new(id, Level::Warn, what.as_ref(), "", "")
    }

    /// As [`Finding::note`].
    pub(super) fn fault(id: &'static str, what: impl AsRef<str>) -> Self {
        Self::new(id, Level::Fault, what.as_ref(), "", "")
    }

    pub(super) fn because(self, why: impl AsRef<str>) -> Self {
        Self { why: printable(why.as_ref()), ..self }
    }

    pub(super) fn remedy(self, remedy: impl AsRef<str>) -> Self {
        Self { remedy: printable(remedy.as_ref()), ..self }
    }

    pub(super) fn fixed_by(self, fix: impl FnOnce(&Patient<'_>) -> Result<String, String> + 'static) -> Self {
        Self { fix: Some(Box::new(fix)), ..self }
    }

    /// Whether `--fix` would mend it.
    #[must_use]
    pub fn fixable(&self) -> bool {
        self.fix.is_some() || self.mended.is_some()
    }

    /// Whether it stays wrong: a warning or a fault that was not mended.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        self.level >= Level::Warn && !matches!(self.mended, Some(Ok(_)))
    }

    /// The check that it comes from: the part before the dot.
    #[must_use]
    pub fn check(&self) -> &'static str {
        self.id.split('.').next().unwrap_or(self.id)
    }

    pub(super) fn mend(&mut self, patient: &Patient<'_>) {
        if let Some(fix) = self.fix.take() {
            let clean = |text: String| printable(&text);
            self.mended = Some(fix(patient).map(clean).map_err(|why| printable(&why)));
        }
    }
}
