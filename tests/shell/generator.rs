//! Scripts that every shell reads alike (or every bash, if they are for bash), out of everything that the grammar has.
#![forbid(unsafe_code)]

use crate::differential::random::Random;

/// A script.
pub(super) fn script(bash: bool, random: &mut Random) -> String {
    let mut generator = Generator { bash, random, bodies: String::new(), in_function: false, labels: 0, here: true };
    let depth = 1 + generator.random.below(3);
    let list = generator.list(depth);
    let end = generator.end();
    format!("{list}{end}wait\n")
}

struct Generator<'a> {
    bash: bool,
    random: &'a mut Random,
    /// Texts of here-documents whose line is not at its end.
    bodies: String,
    in_function: bool,
    labels: usize,
    /// Whether there may be here-documents.
    here: bool,
}

impl Generator<'_> {
    /// The end of a command: of a line if here-documents wait for it.
    fn end(&mut self) -> String {
        if self.bodies.is_empty() {
            self.random.pick(&["; ", ";", "\n", " ;\n\n", " # it's; p x\n"]).to_owned()
        } else {
            format!("\n{}", std::mem::take(&mut self.bodies))
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let mut list = self.item(depth);
        for _ in 0..self.random.below(if depth > 1 { 3 } else { 2 }) {
            list += &self.end();
            list += &self.item(depth);
        }
        list
    }

    fn item(&mut self, depth: usize) -> String {
        let first = self.pipeline(depth);
        match self.random.below(8) {
            0 => format!("{first} && {}", self.pipeline(depth)),
            1 => format!("{first} ||\\\n {}", self.pipeline(depth)),
            2 if self.bodies.is_empty() => format!("{first} &&\n# why\n{}", self.pipeline(depth)),
            3 if self.bodies.is_empty() => format!("{first} &\nwait"),
            _ => first,
        }
    }

    fn pipeline(&mut self, depth: usize) -> String {
        let first = self.command(depth);
        match self.random.below(8) {
            0 => format!("{first} | {}", self.command(depth)),
            1 => format!("! {first}"),
            2 if self.bash => format!("{first} |& {}", self.command(depth)),
            _ => first,
        }
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.percent(55) {
            return self.simple(depth);
        }
        let depth = depth - 1;
        let text = match self.random.below(if self.bash { 16 } else { 13 }) {
            0 => format!("( {}{})", self.list(depth), self.end()),
            1 => format!("{{ {}{}}}", self.list(depth), self.end()),
            2 => format!("if {}{}then {}{}fi", self.list(depth), self.end(), self.list(depth), self.end()),
            3 => {
                let head = format!("if {}{}then {}{}", self.list(depth), self.end(), self.list(depth), self.end());
                format!("{head}else {}{}fi", self.list(depth), self.end())
            }
            4 => format!("while no {}; do {}{}done", self.words(depth, 2), self.list(depth), self.end()),
            5 => {
                format!("until p {} || :{}do {}{}done", self.words(depth, 2), self.end(), self.list(depth), self.end())
            }
            // dash does not see a here-document behind `in …` and a newline: there `;` must stand.
            6 => format!("for x in {};{}do {}{}done", self.words(depth, 3), self.line(), self.list(depth), self.end()),
            7 => format!("for x do {}{}done", self.list(depth), self.end()),
            8 => format!(
                "case {} in a|'b') {}{};; (*) {}{}esac",
                self.word(depth),
                self.list(depth),
                self.line(),
                self.list(depth),
                self.end()
            ),
            9 if !self.in_function => {
                self.in_function = true;
                let text =
                    format!("f() {{ {}{}}}{}f {}", self.list(depth), self.end(), self.end(), self.words(depth, 2));
                self.in_function = false;
                return text;
            }
            10 => return format!("eval '{}'", self.apart(|own| own.list(depth)).replace('\'', "'\\''")),
            11 if self.here => {
                return format!("while read v; do p \"$v\"{}done <<E", self.end()) + &self.body("E", "1\n2\n");
            }
            13 => format!("[[ x{} == \"$(p)\" || -n $F ]]", self.word(depth)),
            14 => format!("(( {} + $(p >&2; echo 1) > 1 ))", self.random.below(3)),
            15 => format!("for ((i = 0; i < 2; i++)); do {}{}done", self.list(depth), self.end()),
            _ => format!("( {})", self.list(depth)),
        };
        if self.random.percent(20) { format!("{text} {}", self.redirection(depth)) } else { text }
    }

    /// A line's end at a place where `;` would be wrong.
    fn line(&mut self) -> String {
        format!("\n{}", std::mem::take(&mut self.bodies))
    }

    /// A text with here-documents of its own.
    fn apart(&mut self, make: impl FnOnce(&mut Self) -> String) -> String {
        let around = std::mem::take(&mut self.bodies);
        let mut text = make(self);
        if !self.bodies.is_empty() {
            text += &self.line();
        }
        self.bodies = around;
        text
    }

    fn simple(&mut self, depth: usize) -> String {
        match self.random.below(20) {
            0 | 1 => return format!("{}={}", self.random.pick(&["F", "G"]), self.word(depth)),
            2 => return format!("export G={}", self.random.pick(&["a", "'b c'", "$F", "\"$F\"x"])),
            3 | 4 => {
                return format!(
                    "cd {}",
                    self.random.pick(&["d", "e", "..", ".", "d/e", "./d", "\"$PWD\"", "~/d", "e/../d", "/", "nowhere"])
                );
            }
            5 => {
                return self
                    .random
                    .pick(&[
                        "unset F",
                        "F=x G=$F",
                        "shift",
                        "set -- k 'l m'",
                        "exit",
                        ": ${F:=z}",
                        "exec 3>o3",
                        "F=a*b",
                        "export F",
                        "export F=y",
                        "set -a",
                        "set +a",
                        "unset G",
                        "(export F=sub)",
                        "F=v export G",
                    ])
                    .to_owned();
            }
            _ => {}
        }
        // bash takes `;&>` for `;&` and `>`.
        let mut text = " ".to_owned();
        if self.random.percent(15) {
            text += &format!("F={} ", self.word(depth));
        }
        if self.random.percent(10) {
            text += &format!("{} ", self.redirection(depth));
        }
        let name = self.random.pick(&["p", "q", "r", "s", "no", "\\p", "'q'", "\"r\"", "command s", "p\\\n"]);
        let name = if self.random.percent(3) { "$P p" } else { name };
        text += name;
        text += " ";
        text += &self.words(depth, 4);
        if self.random.percent(30) {
            text += &format!(" {}", self.redirection(depth));
        }
        text
    }

    fn words(&mut self, depth: usize, most: usize) -> String {
        (0..self.random.below(most)).map(|_| self.word(depth)).collect::<Vec<_>>().join(" ")
    }

    fn word(&mut self, depth: usize) -> String {
        let first = self.part(depth);
        if self.random.percent(30) { first + &self.part(depth) } else { first }
    }

    fn part(&mut self, depth: usize) -> String {
        const KNOWN: &[&str] = &[
            "a",
            "b.env",
            "-x",
            "--f=g",
            "'q r'",
            "''",
            "\"s t\"",
            "\\ ",
            "\\\\",
            "x\\'y",
            "\"it's\"",
            "'\"'",
            "\"\\\"\\$F\\x\"",
            "if",
            "{}",
            "c#d",
            "\"$1\"",
        ];
        const PLAIN: &[&str] = &[
            "$F",
            "\"$F\"",
            "${F}z",
            "\"${G}\"",
            "${F:-w}",
            "\"${F:-'w'}\"",
            "${F%a}",
            "\"${F#\"x\"}\"",
            "${#F}",
            "$#",
            "\"$@\"",
            "$*",
            "$((1 + 2))",
            "*.env",
            "d/?",
            "[de]",
            "~",
            "~/u",
            "$%",
            "\"$G\"",
        ];
        const BASH: &[&str] =
            &["$'n\\nm\\'\\x41'", "{a,b}", "x{1..3}", "$\"tr\"", "${F/a/b}", "${F:0:1}", "${F^^}", "~+"];
        if depth > 0 && self.random.percent(15) {
            let depth = depth - 1;
            // bash 5.2 writes what `$(…)` holds anew, and loses the end of a line behind some here-documents.
            let here = self.here;
            self.here &= !self.bash;
            let inner = self.apart(|own| own.list(depth));
            self.here = here;
            return match self.random.below(if self.bash { 6 } else { 5 }) {
                0 => format!("$( {inner})"),
                1 => format!("\"$( {inner} )\""),
                2 => format!("${{F:-$( {inner} )}}"),
                3 => format!("$( {inner}\n)x"),
                4 => format!("`{}`", inner.replace('\\', "\\\\").replace('`', "\\`").replace('$', "\\$")),
                _ => format!("<( {inner} )"),
            };
        }
        let from: &[&str] = match self.random.below(10) {
            0 | 1 if self.bash => BASH,
            0..=3 => PLAIN,
            _ => KNOWN,
        };
        self.random.pick(from).to_owned()
    }

    fn redirection(&mut self, depth: usize) -> String {
        const PLAIN: [&str; 12] =
            [">o1", "> o2", ">>o1", "2>o3", ">|o4", "<>o5", ">\"o 6\"", "2>&1", ">$F", ">d/o7", "</dev/null", ">o$G"];
        const BASH: [&str; 5] = ["&>o8", "&>>o8", ">&o9", "{fd}>o10", "<<<\"$F\""];
        if self.here && self.random.percent(25) {
            self.labels += 1;
            let label = format!("E{}", self.labels);
            let inner = if depth > 0 {
                format!("$( {})\n`p x`", self.apart(|own| own.list(depth - 1)))
            } else {
                "t".to_owned()
            };
            return match self.random.below(4) {
                0 => format!("<<'{label}'") + &self.body(&label, "$(p no) `p no` it's\n"),
                1 => format!("<<-{label}") + &self.body(&label, "\t\tit's $F \\$(p no)\n\t"),
                2 => format!("<<\\{label}") + &self.body(&label, "p no; (\n"),
                _ => format!("<<{label}") + &self.body(&label, &format!("\"'$F {inner}\n")),
            };
        }
        if self.bash && self.random.percent(25) { self.random.pick(&BASH) } else { self.random.pick(&PLAIN) }.to_owned()
    }

    /// Notes the text of a here-document, and is nothing itself.
    fn body(&mut self, label: &str, text: &str) -> String {
        self.bodies += &format!("{text}{label}\n");
        String::new()
    }
}
