//! The man page from the definitions of the command line.
#![forbid(unsafe_code)]

use clap::{Arg, Command};

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
        let plain = text.replace('\\', "\\e").replace('-', "\\-");
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
        let operands: Vec<String> = verb.get_positionals().map(operand).collect();
        self.line(format!(".SS locked {} {}", verb.get_name(), operands.join(" ").replace('-', "\\-")).trim_end());
        self.text(&verb.get_about().map(ToString::to_string).unwrap_or_default());
        self.options(verb);
        self.line(".PP");
        self.examples(verb);
        for below in verb.get_subcommands().filter(|below| below.get_name() != "help") {
            let operands: Vec<String> = below.get_positionals().map(operand).collect();
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

fn spelled(arg: &Arg) -> String {
    let short = arg.get_short().map(|letter| format!("-{letter}"));
    let long = arg.get_long().map(|word| format!("--{word}"));
    let names = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    match arg.get_action().takes_values() {
        true => format!("{names} {}", value(arg)),
        false => names,
    }
}

fn operand(arg: &Arg) -> String {
    let many = if arg.get_num_args().is_some_and(|range| range.max_values() > 1) { "..." } else { "" };
    if arg.is_required_set() { format!("{}{many}", value(arg)) } else { format!("[{}{many}]", value(arg)) }
}

fn value(arg: &Arg) -> String {
    let names = arg.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    names.unwrap_or_else(|| arg.get_id().to_string().to_uppercase())
}
