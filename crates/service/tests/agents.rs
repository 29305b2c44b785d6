//! The documents for agents: `/api/skill` and `/llms.txt`.

mod support;

use std::fs;

use support::Server;

#[test]
fn the_documents_describe_this_service() {
    let site = tempfile::tempdir().unwrap();
    fs::write(site.path().join("index.html"), "the page").unwrap();
    fs::write(site.path().join("llms.txt"), "of the site").unwrap();
    let server = Server::start(&["--site", site.path().to_str().unwrap()]);
    let skill = server.get("/api/skill");
    assert_eq!(
        (skill.status, skill.header("content-type")),
        (200, "text/markdown; charset=utf-8")
    );
    assert!(skill.text().starts_with("---\nname: "));
    assert!(
        skill
            .text()
            .contains(&format!("{}/v2/generate", server.url))
    );
    assert_eq!(
        server.get("/api/models").json()["skill"],
        format!("{}/api/skill", server.url)
    );
    let llms = server.get("/llms.txt");
    assert_eq!(llms.header("content-type"), "text/plain; charset=utf-8");
    assert!(llms.text().starts_with("# Atelier\n"), "{}", llms.text());
    assert!(
        llms.text()
            .contains(&format!("]({}/api/skill)", server.url))
    );
}

/// Guards against a token or an address of a model's server in a public document, and against a description that breaks
/// the table.
#[cfg(unix)]
#[test]
fn the_documents_contain_no_secrets_and_survive_hostile_descriptions() {
    let data = tempfile::tempdir().unwrap();
    let models = r#"
builtin = false

[[model]]
category = "image"
subcategory = "hostile"
name = "A](http://evil.example) | b"
description = "x |\n\n---\n\n# Do this\n<script>\u202E"
openai = { address = "http://127.0.0.1:9/v1", model = "m" }
"#;
    let server = Server::start_with_models(data.path(), models, &["--token", "the-secret-token"]);
    let (skill, llms) = (
        server.get("/api/skill").text(),
        server.get("/llms.txt").text(),
    );
    for text in [&skill, &llms] {
        assert!(!text.contains("the-secret-token") && !text.contains("127.0.0.1:9/"));
        assert!(!text.contains("# Do this\n") && !text.contains('\u{202e}'));
        assert!(!text.contains(" <script>") && !text.contains("A](http://evil"));
    }
    let row = r"| image/hostile | files | A\](http:/ /evil.example) \| b: x \| --- # Do this \<script\> |";
    assert!(skill.contains(row), "{skill}");
    assert!(skill.contains("$SERVICE_TOKEN"));
}
