use super::*;
use proptest::prelude::*;

#[test]
fn determines_kinds_by_extension_data_and_category() {
    use OutputKind::*;
    for (url, category, kind) in [
        ("https://a/b.PNG?x=y.mp4#z.wav", "", Image),
        ("https://a/b.jpeg", "video", Image),
        ("https://a/b.mp4", "image", Video),
        ("/out/b.wav", "image", Audio),
        ("data:image/svg+xml;base64,AA", "", Image),
        ("DATA:Video/mp4,", "", Video),
        ("data:,hello.png", "image", Other),
        ("https://a/b", "text-to-video", Video),
        ("https://a/b", "image-to-video", Video),
        ("https://a/b", "video-to-audio", Audio),
        ("https://a/b", "image-generation", Image),
        ("https://a/b", "speech-to-text", Other),
        ("https://a/b", "TTS", Audio),
        ("https://a/b?x=y.mp4", "image", Image),
        ("https://example.mov", "images", Image),
        ("https://a/v1.2", "image", Image),
        ("https://a/scene.glb", "image", Other),
        ("", "", Other),
    ] {
        assert_eq!(OutputKind::of(url, category), kind, "{url} {category}");
    }
}

/// The file at `/view?filename=a.mp4` is a video.
#[test]
fn determines_kinds_by_the_file_name_in_a_query() {
    use OutputKind::*;
    for (url, kind) in [
        ("https://a/view?filename=a.mp4&type=output", Some(Video)),
        ("https://a/view.php?type=x&filename=a.wav#b", Some(Audio)),
        ("https://a/b.png?filename=a.mp4", None),
        ("https://a/b?x=y.mp4", None),
    ] {
        assert_eq!(kind_by_query(url), kind, "{url}");
    }
}

#[test]
fn rejects_hostile_urls() {
    for url in [
        "javascript:alert(1)",
        " \u{1}JaVaScRiPt:alert(1)",
        "java\nscript:alert(1)",
        "java\tscript:alert(1)",
        "vbscript:x",
        "file:///etc/passwd",
        "ftp://a/b",
        "//evil.example/x.png",
        "/\\evil.example/x.png",
        "\\\\evil.example",
        "/\t/evil.example",
        "http:evil.example",
        "https:///evil.example",
        "https://",
        "https://service.example@evil.example/",
        "https:// evil.example",
        "ht\ntps://a/b",
        "x.png",
        "../x.png",
        "?x",
        "",
        "data:text/html,<script>",
        "data:image,x",
        "blobby:x",
        "view-source:https://a",
    ] {
        assert_eq!(SafeUrl::link(url, "https://s.example"), None, "{url}");
        assert_eq!(SafeUrl::media(url, "https://s.example"), None, "{url}");
    }
    assert_eq!(SafeUrl::link("data:image/png;base64,AA", ""), None);
    assert_eq!(SafeUrl::link("blob:https://a/b", ""), None);
}

#[test]
fn classifies_addresses_by_syntax() {
    use OutputAddress::*;
    for (text, address) in [
        (" HTTPS://a/b.png\n", Web),
        ("/o/1.png", Path),
        ("/", Path),
        ("//evil.example", Other),
        ("/\\evil.example", Other),
        ("https://me@evil.example/", Other),
        ("s3://bucket/1.png", Other),
        ("DATA:Image/PNG;base64,AA", Data("image/png".into())),
        ("data:,x", Data(String::new())),
        ("blob:https://a/b", Blob),
        ("a cat / a dog", Text),
        ("x.png", Text),
        ("", Text),
    ] {
        assert_eq!(OutputAddress::of(text), address, "{text}");
    }
}

#[test]
fn accepts_safe_urls() {
    let link = |url, service| SafeUrl::link(url, service).map(|url| url.0);
    for url in [
        "https://a/b.png?x=1#y",
        "HTTP://a:8080",
        "http://[::1]:9/x",
        "https://a/b c",
    ] {
        assert_eq!(link(url, "").as_deref(), Some(url));
    }
    assert_eq!(link(" https://a/b\n", "").as_deref(), Some("https://a/b"));
    assert_eq!(link("/o/1.png", "").as_deref(), Some("/o/1.png"));
    assert_eq!(
        link("/o/1.png", "https://s.example:1/api/").as_deref(),
        Some("https://s.example:1/o/1.png")
    );
    assert_eq!(link("/o/1.png", "javascript:x"), None);
    let media = SafeUrl::media("data:image/png;base64,AA", "").unwrap();
    assert!(!media.is_link());
    assert!(SafeUrl::media("blob:https://a/b", "").is_some());
}

/// A text output in a data URL can be saved, but must not be opened as a page.
#[test]
fn data_urls_of_any_type_are_files_but_not_links() {
    for url in [
        "data:text/plain;base64,AA",
        "data:,a",
        "DATA:text/html,<script>",
    ] {
        assert!(
            SafeUrl::file(url, "").is_some_and(|safe| !safe.is_link()),
            "{url}"
        );
        assert_eq!(SafeUrl::media(url, ""), None, "{url}");
    }
    for url in ["javascript:1", "//evil.example", "data:,a\nb", "a text"] {
        assert_eq!(SafeUrl::file(url, "https://s.example"), None, "{url}");
    }
    assert!(SafeUrl::file("/o/1.png", "").is_some());
}

proptest! {
    #[test]
    fn handles_any_text_and_accepts_known_schemes_only(url in "\\PC{0,40}|[a-z:/\\\\\n@. ]{0,20}", service in "\\PC{0,20}") {
        let _ = OutputKind::of(&url, &service);
        if let Some(safe) = SafeUrl::media(&url, &service) {
            let lower = safe.as_str().to_lowercase();
            let known = ["http://", "https://", "data:image/", "data:video/", "data:audio/", "blob:", "/"];
            prop_assert!(known.iter().any(|start| lower.starts_with(start)));
            prop_assert!(!lower.starts_with("//"));
            prop_assert!(!lower.chars().any(char::is_control));
        }
    }
}
