//! The man page from the definitions of the command line.
#![forbid(unsafe_code)]

use clap::{Arg, Command};
use locked::config::Key;

/// `locked(1)` in roff.
pub(crate) fn page() -> String {
    let definition = locked::cli::definition();
    let mut page = Page(String::new());
    page.line(".\\\" Generated from the definitions of the command line: LOCKED_BLESS=1 cargo test generated");
    page.line(&format!(".TH LOCKED 1 \"\" \"locked {}\" \"\"", env!("CARGO_PKG_VERSION")));
    page.section("NAME");
    page.line("locked \\- one writer at a time for shared secrets and servers");
    page.section("SYNOPSIS");
    page.line(".B locked\n[OPTIONS] PROGRAM [ARGS]...\n.br\n.B locked\nVERB [ARGS]...");
    page.section("DESCRIPTION");
    page.text(&definition.get_long_about().or(definition.get_about()).map(ToString::to_string).unwrap_or_default());
    page.section("OPTIONS");
    page.options(&definition);
    page.section("VERBS");
    for verb in definition.get_subcommands().filter(|verb| verb.get_name() != "help") {
        page.verb(verb);
    }
    page.section("EXAMPLES");
    page.examples(&definition);
    page.section("EXIT STATUS");
    page.text("The program's own, death by signal included. 64 to 80, 126 and 127 are ours, each with one cause; the README has the table.");
    page.0
}

/// `locked.toml(5)` in roff: every key, and the example of them all.
pub(crate) fn settings() -> String {
    let mut page = Page(String::new());
    page.line(".\\\" Generated from the table of keys: LOCKED_BLESS=1 cargo test generated");
    page.line(&format!(".TH LOCKED.TOML 5 \"\" \"locked {}\" \"\"", env!("CARGO_PKG_VERSION")));
    page.section("NAME");
    page.line("locked.toml \\- settings of locked");
    page.section("SYNOPSIS");
    page.line(".nf");
    page.text("/etc/locked/config.toml\n/etc/locked/config.d/*.toml\n~/.config/locked/config.toml\n.locked.toml");
    page.line(".fi");
    page.section("DESCRIPTION");
    page.text(
        "The files are TOML; the later in this order the stronger. Variables (LOCKED_TTL) and options (--ttl) are stronger than all of \
         them. `locked config show` tells what counts, and who says so.",
    );
    page.line(".PP");
    page.text(
        "The file of a repository (.locked.toml at its root) came with what was checked out. Before somebody trusts it \
         (`locked config trust`) it may only add; what that means is said with each key as \"untrusted\". Durations are a \
         number and ms, s, m or h.",
    );
    page.section("KEYS");
    for key in Key::ALL {
        page.line(".TP");
        page.line(&format!(".B {}", key.name().replace('-', "\\-")));
        page.text(key.about());
        page.line(".br");
        match key.ready() {
            Some(ready) => page.text(&format!("Ready: {}.", ready.toml())),
            None if !key.is_table() => page.text(&format!("Example: {}", key.example())),
            None => {}
        }
        page.line(".br");
        page.text(&format!("Untrusted: {}.", key.before_trust()));
    }
    page.section("EXAMPLE");
    page.text("Every key, with its ready value or an example:");
    page.line(".PP\n.nf");
    page.text(include_str!("../../install/locked.toml"));
    page.line(".fi");
    page.section("SEE ALSO");
    page.line(".BR locked (1)");
    page.0
}

struct Page(String);

impl Page {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn section(&mut self, name: &str) {
        self.line(&format!(".SH {name}"));
    }

    /// Text, with what roff would take for its own made plain.
    fn text(&mut self, text: &str) {
        let plain: String = text.replace('\\', "\\e").replace('-', "\\-").chars().map(plain).collect();
        for line in plain.lines() {
            match line.trim() {
                "" => self.line(".PP"),
                line if line.starts_with(['.', '\'']) => self.line(&format!("\\&{line}")),
                line => self.line(line),
            }
        }
    }

    fn options(&mut self, command: &Command) {
        for arg in command.get_arguments().filter(|arg| !arg.is_positional() && arg.get_id() != "help") {
            self.line(".TP");
            self.line(&format!(".B {}", spelled(arg).replace('-', "\\-")));
            self.text(&arg.get_help().map(ToString::to_string).unwrap_or_default());
            if let Some(variable) = arg.get_env() {
                self.text(&format!("(environment: {})", variable.to_string_lossy()));
            }
        }
    }

    fn verb(&mut self, verb: &Command) {
        let operands = named(verb);
        self.line(format!(".SS locked {} {}", verb.get_name(), operands.join(" ").replace('-', "\\-")).trim_end());
        self.text(&verb.get_about().map(ToString::to_string).unwrap_or_default());
        self.options(verb);
        self.line(".PP");
        self.examples(verb);
        // What is hidden and has no example is for ourselves.
        let told = |below: &&clap::Command| !below.is_hide_set() || below.get_after_help().is_some();
        for below in verb.get_subcommands().filter(|below| below.get_name() != "help").filter(told) {
            let operands = named(below);
            let name = format!(".SS locked {} {} {}", verb.get_name(), below.get_name(), operands.join(" "));
            self.line(name.replace('-', "\\-").trim_end());
            self.text(&below.get_about().map(ToString::to_string).unwrap_or_default());
            self.options(below);
            self.line(".PP");
            self.examples(below);
        }
    }

    fn examples(&mut self, command: &Command) {
        let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        self.line(".nf");
        self.text(&text.lines().skip(1).collect::<Vec<_>>().join("\n"));
        self.line(".fi");
    }
}

/// Letters beyond ASCII by their number: not every roff reads UTF-8.
fn plain(letter: char) -> String {
    if letter.is_ascii() { letter.to_string() } else { format!("\\[u{:04X}]", u32::from(letter)) }
}

fn spelled(arg: &Arg) -> String {
    let short = arg.get_short().map(|letter| format!("-{letter}"));
    let long = arg.get_long().map(|word| format!("--{word}"));
    let names = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    match arg.get_action().takes_values() {
        true => format!("{names} {}", value(arg)),
        false => names,
    }
}

fn named(verb: &Command) -> Vec<String> {
    verb.get_positionals().filter(|arg| !arg.is_hide_set()).map(operand).collect()
}

fn operand(arg: &Arg) -> String {
    let many = if arg.get_num_args().is_some_and(|range| range.max_values() > 1) { "..." } else { "" };
    if arg.is_required_set() { format!("{}{many}", value(arg)) } else { format!("[{}{many}]", value(arg)) }
}

fn value(arg: &Arg) -> String {
    let names = arg.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    names.unwrap_or_else(|| arg.get_id().to_string().to_uppercase())
}
