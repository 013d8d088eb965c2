//! Which zones a line enters: what the rules saw in its words, and what stands in the files that it writes, reads or
//! hands to a database.
//!
//! A file that cannot be looked at (of another host, of another user, too long) counts as one whose content fits: then
//! people wait for each other without need, instead of writing over each other.
#![forbid(unsafe_code)]

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::content::{self, Content};
use super::{World, places};
use crate::naming::{self, Place};
use crate::rules::{Book, Classification, Deed, Policy, Zone, is_device, is_known};
use crate::terms::percent_encode;

/// For so long content is compared with what zones ask for, where the line itself is not looked at.
const LONGEST_LOOK: Duration = Duration::from_millis(300);

/// A zone that is entered, and how.
pub(super) struct Entered<'b> {
    pub(super) zone: &'b Zone,
    /// What enters it does not stop with our processes; as far as the files say it.
    pub(super) remote: bool,
    how: String,
}

impl Entered<'_> {
    /// One sentence for `explain`.
    pub(super) fn reason(&self) -> String {
        format!("it enters the zone {} {}", self.zone.name, self.how)
    }
}

/// Finds them, in the byte order of their names. `used` are Compose files: they are not written, but what they say is
/// what is done.
pub(super) fn entered<'b>(class: &Classification, used: &[PathBuf], world: &World<'b>) -> Vec<Entered<'b>> {
    let zones = world.book.zones();
    if zones.is_empty() {
        return Vec::new();
    }
    let files = files(&class.deeds, used, zones, world);
    let told = OnceCell::new();
    let mut entered: Vec<Entered<'b>> = zones
        .iter()
        .filter_map(|zone| {
            let by_line = class.zones.get(&zone.name).map(|how| (*how).to_owned());
            let with: Vec<&Touched<'_>> = files.iter().filter(|file| file.enters(zone, &world.is_late)).collect();
            // A server goes on with a statement when the program that sent it is stopped.
            let sent = {
                let told = told.get_or_init(|| content::told(&class.deeds, world));
                !zone.sql.is_empty() && (told.cut_short || told.texts.iter().any(|text| zone.has_sql(text)))
            };
            let by_file = with.first().map(|file| file.how());
            let how = by_line.or(by_file).or_else(|| sent.then(|| "by the SQL in a file".to_owned()))?;
            let remote = sent || with.iter().any(|file| file.beyond);
            Some(Entered { zone, remote, how })
        })
        .collect();
    entered.sort_by(|one, two| one.zone.name.cmp(&two.zone.name));
    entered.dedup_by(|one, two| one.zone.name == two.zone.name);
    entered
}

/// Who reads SQL from a file that is not there to be looked at, one sentence each. On other hosts the rules say it.
pub(super) fn unseen(class: &Classification, world: &World<'_>) -> Vec<String> {
    if world.book.zones().iter().all(|zone| zone.sql.is_empty()) {
        return Vec::new();
    }
    let here = class.deeds.iter().filter(|deed| deed.host.is_none() && !deed.inside && !deed.sql.hidden);
    let unseen = here.filter(|deed| {
        let mut files = deed.sql.files.iter();
        files.any(|file| !std::fs::metadata(file).is_ok_and(|found| found.is_file()))
    });
    unseen.map(|deed| format!("{} reads SQL where it cannot be looked at", deed.sql.reader)).collect()
}

/// The zones that a file enters by what is about to come into it, whatever stands in it now.
#[must_use]
pub fn entered_with<'b>(path: &Path, text: &[u8], book: &'b Book) -> Vec<&'b Zone> {
    if book.zones().iter().all(|zone| zone.content.is_empty()) || places::is_safe(path, book) {
        return Vec::new();
    }
    let (letters, places) = (places::by_its_letters(path), places::of(path));
    let began = Instant::now();
    let is_late = || began.elapsed() > LONGEST_LOOK;
    let named = |zone: &Zone| {
        zone.has_path(&letters, None) || places.iter().any(|place| zone.has_path(&place.path, place.inside.as_deref()))
    };
    book.zones()
        .iter()
        .filter(|zone| !zone.content.is_empty() && named(zone) && zone.has_content(text, &is_late))
        .collect()
}

/// The terms of a line that enters these. What a zone asks for is as long as the line has it: only what else is held
/// says that something may be given back before the end. Where nothing else is, the zones alone have a say.
pub(super) fn terms(others: Option<Policy>, entered: &[Entered<'_>]) -> Policy {
    let give_back = others.as_ref().and_then(|policy| policy.give_back);
    let all = others.into_iter().chain(entered.iter().map(|entered| entered.zone.policy.clone()));
    Policy { give_back, ..all.reduce(Policy::and).unwrap_or_default() }
}

/// A file that is touched.
struct Touched<'d> {
    path: PathBuf,
    letters: PathBuf,
    places: Vec<Place>,
    wrote: bool,
    /// It lies where nobody here can look.
    elsewhere: bool,
    /// What touches it does not stop with our processes.
    beyond: bool,
    /// A zone that only adds has no say.
    passes: bool,
    content: OnceCell<Content>,
    /// The commands that write it.
    by: Vec<&'d Deed>,
}

impl Touched<'_> {
    fn enters(&self, zone: &Zone, is_late: &dyn Fn() -> bool) -> bool {
        let named = zone.has_path(&self.letters, None)
            || self.places.iter().any(|place| zone.has_path(&place.path, place.inside.as_deref()));
        let spared = zone.adds_only && (self.passes || is_device(&self.path));
        named && !spared && (self.wrote || zone.reads) && self.fits(zone, is_late)
    }

    fn how(&self) -> String {
        let name = self.letters.file_name().unwrap_or_default().as_encoded_bytes();
        let told = !naming::is_likely_a_value(&self.letters);
        if told { format!("with {}", percent_encode(name)) } else { "with a file".to_owned() }
    }

    fn fits(&self, zone: &Zone, is_late: &dyn Fn() -> bool) -> bool {
        if zone.content.is_empty() || self.is_brought(zone, is_late) {
            return true;
        }
        match self.content.get_or_init(|| if self.elsewhere { Content::Unseen } else { content::of(&self.path) }) {
            Content::Missing => false,
            Content::Unseen => true,
            Content::Text { text, whole } => zone.has_content(text, is_late) || !whole,
        }
    }

    /// Whether what is written there fits, as far as the line says what that is.
    fn is_brought(&self, zone: &Zone, is_late: &dyn Fn() -> bool) -> bool {
        let fits = |source: &PathBuf| match content::of(source) {
            Content::Text { text, .. } => zone.has_content(&text, is_late),
            Content::Missing | Content::Unseen => false,
        };
        let texts = |deed: &&Deed| deed.brings.iter().any(|text| zone.has_content(text, is_late));
        let sources = |deed: &&Deed| deed.sources.iter().take(MOST_SOURCES).any(fits);
        // Of more than anybody writes by hand, it is taken to fit.
        self.wrote && (self.by.len() > MOST_SOURCES || self.by.iter().any(|deed| texts(deed) || sources(deed)))
    }
}

/// So many files that something may be copied from are read for each command that writes one, and so many commands are
/// asked.
const MOST_SOURCES: usize = 16;

fn files<'d>(deeds: &'d [Deed], used: &[PathBuf], zones: &[Zone], world: &World<'_>) -> Vec<Touched<'d>> {
    if zones.iter().all(|zone| zone.paths.is_empty()) {
        return Vec::new();
    }
    let mut writers: BTreeMap<&PathBuf, Vec<&Deed>> = BTreeMap::new();
    for deed in deeds.iter().filter(|deed| !deed.inside) {
        for path in &deed.writes {
            writers.entry(path).or_default().push(deed);
        }
    }
    let by = |deed: &Deed, path: &PathBuf, wrote: bool| {
        let passes = deed.passes || (deed.launches && !wrote);
        (path.clone(), wrote, deed.host.is_some(), deed.beyond, passes)
    };
    let by_deeds = deeds.iter().filter(|deed| !deed.inside).flat_map(|deed| {
        let writes = deed.writes.iter().map(move |path| by(deed, path, true));
        writes.chain(deed.reads.iter().map(move |path| by(deed, path, false)))
    });
    // An engine goes on when the client is stopped.
    let by_compose = used.iter().map(|path| (path.clone(), true, false, true, false));
    let all: BTreeSet<_> = by_deeds.chain(by_compose).collect();
    let wanted = all.into_iter().filter(|(path, _, elsewhere, ..)| *elsewhere || !places::is_safe(path, world.book));
    let touched = wanted.map(|(path, wrote, elsewhere, beyond, passes)| Touched {
        letters: places::by_its_letters(&path),
        places: if elsewhere || !is_known(path.as_os_str()) { Vec::new() } else { places::of(&path) },
        content: OnceCell::new(),
        by: if wrote { writers.get(&path).cloned().unwrap_or_default() } else { Vec::new() },
        path,
        wrote,
        elsewhere,
        beyond,
        passes,
    });
    touched.collect()
}
