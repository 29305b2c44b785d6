use super::*;
use proptest::prelude::*;

const GRAMMARS: [Grammar; 3] = [Grammar::Python, Grammar::Json, Grammar::Plain];

fn seen(source: &str) -> Vec<(Kind, &str)> {
    seen_as(Grammar::Python, source)
}

fn seen_as(grammar: Grammar, source: &str) -> Vec<(Kind, &str)> {
    spans(grammar, source)
        .into_iter()
        .filter(|span| span.kind != Kind::Plain)
        .map(|span| (span.kind, span.text))
        .collect()
}

#[test]
fn highlights_a_function() {
    use Kind::*;
    let source =
        "@app.route('/x')\nasync def run(x=1.5e-3):  # go\n    return f\"a\\\"b\" + définir\n";
    assert_eq!(
        seen(source),
        [
            (Decorator, "@app.route"),
            (Text, "'/x'"),
            (Keyword, "async"),
            (Keyword, "def"),
            (Definition, "run"),
            (Number, "1.5e-3"),
            (Comment, "# go"),
            (Keyword, "return"),
            (Text, "f\"a\\\"b\""),
        ]
    );
}

#[test]
fn strings_end_at_their_quotes() {
    use Kind::*;
    assert_eq!(
        seen("'''a 'b' \n\\''' c''' 'open\nx = 0x1F @ y; br'\\'"),
        [
            (Text, "'''a 'b' \n\\''' c'''"),
            (Text, "'open"),
            (Number, "0x1F"),
            (Text, "br'\\'"),
        ]
    );
    assert_eq!(
        seen("\"\"\"never closed\n"),
        [(Text, "\"\"\"never closed\n")]
    );
    assert_eq!(seen("class\tΑθήνα: pass")[1], (Definition, "Αθήνα"));
    assert_eq!(seen("'' \"\""), [(Text, "''"), (Text, "\"\"")]);
}

#[test]
fn highlights_json_and_leaves_other_languages_plain() {
    use Kind::*;
    assert_eq!(
        seen_as(Grammar::Json, r#"{"a" : ["x\"", -1.5e3, true], "b":null}"#),
        [
            (Definition, "\"a\""),
            (Text, r#""x\"""#),
            (Number, "-1.5e3"),
            (Keyword, "true"),
            (Definition, "\"b\""),
            (Keyword, "null"),
        ]
    );
    assert_eq!(seen_as(Grammar::Plain, "if \"x\" # 1"), []);
}

proptest! {
    #[test]
    fn the_spans_join_to_the_text(source in ".{0,80}|[a-fr'\"`\\\\#@$:/{}\n\r 0-9.é-]{0,80}") {
        for grammar in GRAMMARS {
            let spans = spans(grammar, &source);
            prop_assert_eq!(spans.iter().map(|span| span.text).collect::<String>(), source.as_str());
            prop_assert!(spans.iter().all(|span| !span.text.is_empty()));
            let doubled = spans.windows(2).any(|pair| pair.iter().all(|span| span.kind == Kind::Plain));
            prop_assert!(!doubled);
        }
    }
}

proptest! {
    #[test]
    fn blocks_have_their_lines_and_join_to_the_text(source in "[a'\"# \n]{0,60}", lines in 1..5usize) {
        let spans = spans(Grammar::Python, &source);
        let blocks: Vec<String> = blocks(&spans, lines)
            .into_iter()
            .map(|block| block.iter().map(|span| span.text).collect())
            .collect();
        prop_assert_eq!(blocks.concat(), source);
        for (n, block) in blocks.iter().enumerate() {
            let ended = block.matches('\n').count();
            let is_full = ended == lines && block.ends_with('\n');
            let is_last = n + 1 == blocks.len() && ended < lines && !block.is_empty();
            prop_assert!(is_full || is_last, "{:?}", block);
        }
    }
}

/// Searching the rest of the text at each character would exceed the time limit of a test.
#[test]
fn highlighting_time_grows_linearly_with_the_text() {
    for piece in [
        "'", "\"\"\"", "a", "@", "1", "# ", "\\", "é\n", "\" ", "$", "-", "def ",
    ] {
        for grammar in GRAMMARS {
            let source = piece.repeat(300_000);
            assert!(!spans(grammar, &source).is_empty(), "{piece}");
        }
    }
}
