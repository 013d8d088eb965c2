use super::*;

fn tools() -> Vec<String> {
    ["sops", "gh", "docker"].map(str::to_owned).to_vec()
}

#[test]
fn a_command_is_told_from_a_path() {
    for line in [
        "/usr/bin/sops set x",
        "\t@/usr/local/bin/sops -d x > y",
        "\t-/usr/bin/docker compose up",
        "SOPS := /usr/bin/sops",
        "SOPS=\"/usr/bin/sops\"",
        "A=1 B=2 /usr/bin/sops edit x",
        "if ! /usr/bin/sops -d x; then",
        "cd x && /usr/bin/sops edit y",
        "x=$(/usr/bin/sops -d y)",
        "  run: /usr/local/bin/sops set x",
        "      - /opt/homebrew/bin/gh secret set A",
        "  \"deploy\": \"/usr/bin/sops edit x\",",
        "sudo /usr/bin/docker compose up -d",
        "sh -c '/usr/bin/sops edit x'",
        "for f in *; do /usr/bin/sops -r \"$f\"; done",
        "cat x | xargs /usr/bin/sops",
        "entrypoint: [\"/usr/bin/docker\", \"x\"]",
    ] {
        assert!(called(line, &tools()).is_some(), "{line}");
    }
    for line in [
        "# /usr/bin/sops is the old one",
        "sudo mv sops /usr/local/bin/sops",
        "curl -o /usr/local/bin/sops https://example.org/sops",
        "curl -o \"/usr/local/bin/sops\" https://x",
        "chmod +x /usr/local/bin/sops",
        "COPY --from=tools /usr/local/bin/sops /usr/local/bin/sops",
        "test -x /usr/bin/sops || exit 1",
        "ls ./usr/bin/sops",
        "x/usr/bin/sops y",
        "/usr/bin/sops-helper x",
        "/usr/bin/soap x",
        "sops set x y z",
        "#!/usr/bin/env bash",
        "docker run -v /usr/bin/docker:/usr/bin/docker x",
    ] {
        assert_eq!(called(line, &tools()), None, "{line}");
    }
}

#[test]
fn files_that_run_commands_are_known_by_name() {
    for (name, script) in [
        ("Makefile", true),
        ("deploy.sh", true),
        (".github/workflows/ci.yml", true),
        ("docker-compose.prod.yml", true),
        ("bin/deploy", true),
        ("package.json", true),
        ("values.yml", false),
        ("src/main.rs", false),
        ("secrets/x.env.sops", false),
    ] {
        assert_eq!(is_script(Path::new(name)), script, "{name}");
    }
}
