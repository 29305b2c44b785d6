use atelier_contract::json;
use atelier_engine::BatchKey;
use serde_json::json;

use super::*;
use crate::compose::table::Writer;
use crate::form::upload::pending::CHANGED;

fn schema() -> Schema {
    serde_json::from_value(json!({
        "category": "image", "subcategory": "a",
        "parameters": {
            "required": [{"name": "image_url", "type": "string"}, {"name": "prompt", "type": "string"}],
            "optional": [
                {"name": "mask_url", "type": "string", "format": "mask"},
                {"name": "style_image", "type": "string"}
            ]
        }
    }))
    .unwrap()
}

fn file(name: &str, key: &str) -> FileReference {
    FileReference {
        name: name.into(),
        key: key.into(),
    }
}

fn prompt() -> Draft {
    let mut draft = Draft::default();
    draft.set("prompt", Entry::Text("a lamp".into()));
    draft
}

fn named(name: &str) -> Draft {
    let mut draft = prompt();
    draft.set("image_url", Entry::Text(name.into()));
    draft
}

/// Returns the texts of the cells of a column.
fn cells(table: &Table, parameter: &str) -> Vec<String> {
    let drafts = table.rows().iter().map(|row| row.draft.get(parameter));
    drafts
        .map(|entry| entry.map_or_else(String::new, Entry::to_text))
        .collect()
}

fn send(table: &mut Table, schema: &Schema) -> Vec<serde_json::Value> {
    let batch = BatchKey("b".into());
    let sent = table.send_good(&batch, schema, false, &mut || 7, &|_| None);
    let inputs = sent.items.iter().map(|item| json::encode(&item.input));
    inputs.collect()
}

fn two_files() -> Table {
    let mut table = Table::default();
    let files = [file("a.png", "1"), file("b.png", "2")];
    table
        .add_files(&prompt(), "image_url", &files, &schema())
        .unwrap();
    table.draw_nonces(&mut || 5);
    table
}

fn uploaded(key: &str) -> (String, String) {
    (key.to_owned(), format!("https://a.example/{key}"))
}

/// Guards against a task that is paid for without its picture, or with the name of a file as its address. This includes the
/// tab of an earlier version, which validates rows by the schema only.
#[test]
fn a_row_is_not_sent_before_its_file_is_uploaded() {
    let schema = schema();
    let mut table = two_files();
    assert_eq!((table.good(), table.bad().count()), (2, 0));
    assert!(send(&mut table, &schema).is_empty());
    for row in table.rows() {
        assert!(schema.validate(&row.draft, false).is_err());
    }
    // Another tab, or this one after a reload.
    let written = Writer::new(table.clone()).finish();
    assert_eq!(written, table.to_value().to_string());
    let mut other = Table::from_value(table.to_value(), &schema).unwrap();
    assert_eq!((other.good(), other.bad().count()), (0, 2));
    let bad = other.bad_rows(5);
    let text = "image_url has a file that was not uploaded: choose it again, or drop it here";
    assert_eq!((bad.len(), bad[0].count), (1, 2));
    assert!(bad[0].message.ends_with(text), "{}", bad[0].message);
    assert!(send(&mut other, &schema).is_empty());

    assert!(table.fill_files(&[uploaded("2")], &schema));
    assert_eq!(send(&mut table, &schema).len(), 1);
    assert!(table.fill_files(&[uploaded("1"), uploaded("2")], &schema));
    assert!(!table.fill_files(&[uploaded("1"), uploaded("2")], &schema));
    assert_eq!(send(&mut table, &schema).len(), 1);
    let urls = ["https://a.example/1", "https://a.example/2"];
    assert_eq!(cells(&table, "image_url"), urls);
}

#[test]
fn a_row_with_the_name_of_a_file_is_not_sent() {
    let schema = schema();
    let mut table = Table::default();
    let rows = ["cat.png", "pictures/dog.jpg", "https://a.example/owl.png"];
    table.append(rows.map(named).to_vec(), &schema).unwrap();
    assert_eq!((table.good(), table.bad().count()), (1, 2));
    assert_eq!(send(&mut table, &schema).len(), 1);
    // Only media parameters have files.
    let mut draft = named("https://a.example/owl.png");
    draft.set("prompt", Entry::Text("cat.png".into()));
    table.append(vec![draft], &schema).unwrap();
    assert_eq!(send(&mut table, &schema).len(), 1);
}

#[test]
fn a_failed_upload_is_a_problem_of_its_row() {
    let schema = schema();
    let mut table = two_files();
    let failed = FileState::Failed("a.png is broken.".into());
    let states = [
        ("1".to_owned(), failed),
        ("2".to_owned(), FileState::Uploading),
    ];
    table.set_file_states(states.into(), &schema);
    let bad: Vec<_> = table
        .bad()
        .map(|(at, row)| (at, &row.problems[0]))
        .collect();
    assert_eq!(bad.len(), 1);
    assert_eq!(
        (bad[0].0, bad[0].1.message.as_str()),
        (0, "a.png is broken.")
    );
}

#[test]
fn added_files_can_be_undone_after_they_are_uploaded() {
    let schema = schema();
    let mut table = Table::default();
    table
        .append(vec![named("https://a.example/x")], &schema)
        .unwrap();
    table
        .add_files(&prompt(), "image_url", &[file("a.png", "1")], &schema)
        .unwrap();
    table.fill_files(&[uploaded("1")], &schema);
    assert_eq!(
        table.addition_message().as_deref(),
        Some("Added 1 row to the existing row.")
    );
    table.undo_addition();
    assert_eq!(table.rows().len(), 1);
}

/// The same picture and settings would be charged again.
#[test]
fn a_row_that_was_sent_before_is_recognized_once_its_file_is_uploaded() {
    let schema = schema();
    let mut table = two_files();
    table.fill_files(&[uploaded("1"), uploaded("2")], &schema);
    assert_eq!(send(&mut table, &schema).len(), 2);
    table
        .add_files(&prompt(), "image_url", &[file("a.png", "3")], &schema)
        .unwrap();
    let url = uploaded("1").1;
    table.fill_files(&[("3".to_owned(), url)], &schema);
    assert!(table.rows()[2].earlier().is_some());
}

#[test]
fn files_are_matched_by_name() {
    let schema = schema();
    let mut table = Table::default();
    let rows = [
        "b.png",
        "img/A.PNG",
        "b.png",
        "c.png",
        "https://a.example/d.png",
    ];
    table.append(rows.map(named).to_vec(), &schema).unwrap();
    assert!(table.needs_files(Media::Image, &schema));
    assert!(!table.needs_files(Media::Video, &schema));
    let names = ["a.png", "b.png", "d.png", "c.png"];
    let mut files = names.map(|name| (Media::Image, name));
    files[3].0 = Media::Video;
    let matches = table.match_files(&files, &schema);
    let uses = matches.uses.iter().map(|it| names[it.file]);
    assert_eq!(uses.collect::<Vec<_>>(), ["b.png", "a.png"]);
    assert_eq!(matches.unmatched, [2, 3]);
    let message = "Matched 2 files by name. In no row: d.png, c.png.";
    assert_eq!(matches.message(&names), message);
    let uses = matches
        .uses
        .into_iter()
        .zip([file("b.png", "b"), file("a.png", "a")]);
    table.use_files(&uses.collect::<Vec<_>>(), &schema);
    assert_eq!(table.bad().count(), 1);
    table.fill_files(&[uploaded("a"), uploaded("b")], &schema);
    let urls = [
        "https://a.example/b",
        "https://a.example/a",
        "https://a.example/b",
        "c.png",
    ];
    assert_eq!(cells(&table, "image_url")[..4], urls);
}

/// Guards against a result of the wrong picture.
#[test]
fn names_with_several_meanings_are_not_matched() {
    let schema = schema();
    let image = |name| (Media::Image, name);
    let matched = |rows: Vec<Draft>, files: &[(Media, &str)]| {
        let mut table = Table::default();
        table.append(rows, &schema).unwrap();
        let matches = table.match_files(files, &schema);
        (matches.uses.len(), matches.ambiguous, matches.unmatched)
    };
    let ambiguous = |name: &str| (0, vec![name.to_owned()], vec![]);
    let two = vec![named("x/1.png"), named("y/1.png")];
    assert_eq!(matched(two, &[image("1.png")]), ambiguous("1.png"));
    let one = vec![named("1.png")];
    let same = [image("1.png"), image("1.png")];
    assert_eq!(matched(one.clone(), &same), ambiguous("1.png"));
    let spelled = [image("1.PNG"), image("1.Png")];
    assert_eq!(matched(one.clone(), &spelled), ambiguous("1.png"));
    let exact = [image("1.PNG"), image("1.png")];
    assert_eq!(matched(one, &exact), (1, vec![], vec![0]));
    let mut both = named("1.png");
    both.set("style_image", Entry::Text("1.png".into()));
    assert_eq!(matched(vec![both], &[image("1.png")]), ambiguous("1.png"));
    // Two different files with one name, after a reload.
    let mut table = Table::default();
    let files = [file("image.png", "1"), file("image.png", "2")];
    table
        .add_files(&prompt(), "image_url", &files, &schema)
        .unwrap();
    table.set_file_states(FileStates::new(), &schema);
    let matches = table.match_files(&[image("image.png")], &schema);
    assert_eq!((matches.uses.len(), matches.ambiguous.len()), (0, 1));
}

#[test]
fn a_file_that_is_being_uploaded_is_not_replaced_by_name() {
    let schema = schema();
    let mut table = two_files();
    let files = [(Media::Image, "a.png")];
    assert_eq!(table.match_files(&files, &schema).unmatched, [0]);
    table.set_file_states(FileStates::new(), &schema);
    assert_eq!(table.match_files(&files, &schema).uses.len(), 1);
}

#[test]
fn rows_are_for_the_picture_and_not_for_its_mask() {
    let schema = schema();
    let names = columns_for(&schema, Media::Image);
    let names: Vec<_> = names.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["image_url", "style_image"]);
    assert!(columns_for(&schema, Media::Audio).is_empty());
}

#[test]
fn generate_waits_for_all_files_and_sends_the_same_rows() {
    let schema = schema();
    let mut table = two_files();
    table
        .append(vec![named("https://a.example/x")], &schema)
        .unwrap();
    let pressed = PressedRows::new(&table).unwrap();
    let url = |key: &str| Some(uploaded(key).1);
    let wait = |text: &str| FileWait::Wait(text.to_owned());
    assert_eq!(
        pressed.next(&table, &url),
        wait("Waiting for the upload of a.png and b.png. Generate follows.")
    );
    table.fill_files(&[uploaded("1")], &schema);
    assert_eq!(
        pressed.next(&table, &url),
        wait("Waiting for the upload of b.png. Generate follows.")
    );
    table.fill_files(&[uploaded("2")], &schema);
    assert_eq!(pressed.next(&table, &url), FileWait::Send);
    assert_eq!(PressedRows::new(&table), None);
    // Another URL than that of the file.
    let other = |_: &str| Some("https://b.example".to_owned());
    let stop = FileWait::Stop(CHANGED.to_owned());
    assert_eq!(pressed.next(&table, &other), stop);
    table.remove(table.rows()[2].id);
    assert_eq!(pressed.next(&table, &url), stop);
}

#[test]
fn generate_sends_nothing_if_a_file_fails_meanwhile() {
    let schema = schema();
    let mut table = two_files();
    let pressed = PressedRows::new(&table).unwrap();
    let failed = FileState::Failed("a.png is broken.".into());
    table.set_file_states([("1".to_owned(), failed)].into(), &schema);
    let stop = FileWait::Stop("Not sent: a.png is broken.".to_owned());
    assert_eq!(pressed.next(&table, &|_| None), stop);
    assert_eq!(PressedRows::new(&table), None);
}

/// Browsers store references, so their format must stay the same.
#[test]
fn stored_references_round_trip() {
    let entry = file("cat.png", "0a").entry();
    let text = r#"{"local_file":"cat.png","upload":"0a"}"#;
    assert_eq!(entry.to_text(), text);
    assert_eq!(FileReference::of(&entry), Some(file("cat.png", "0a")));
    for other in [
        Entry::Text(text.into()),
        Entry::Value(json!({"local_file": "cat.png"})),
        Entry::Value(json!("cat.png")),
    ] {
        assert_eq!(FileReference::of(&other), None);
    }
}

fn list_schema() -> Schema {
    serde_json::from_value(json!({
        "category": "image", "subcategory": "a",
        "parameters": {
            "required": [
                {"name": "prompt", "type": "string"},
                {"name": "image_urls", "type": "array", "items": {"type": "string", "format": "uri"}}
            ],
            "optional": [{"name": "mask_url", "type": "string", "format": "mask"}]
        }
    }))
    .unwrap()
}

fn listed(entry: Entry) -> Draft {
    let mut draft = prompt();
    draft.set("image_urls", entry);
    draft
}

/// Guards against a mask that is applied to another picture than the one that it was drawn over.
#[test]
fn rows_of_dropped_files_have_no_mask_of_another_picture() {
    let schema = schema();
    let mut base = named("https://a.example/lake.png");
    base.set("mask_url", Entry::Text("https://a.example/mask.png".into()));
    let masks = |column: &str| {
        let mut table = Table::default();
        let files = [file("a.png", "1"), file("b.png", "2")];
        table.add_files(&base, column, &files, &schema).unwrap();
        cells(&table, "mask_url")
    };
    assert_eq!(masks("image_url"), ["", ""]);
    let mask = "https://a.example/mask.png";
    assert_eq!(masks("style_image"), [mask, mask]);
}

/// Guards against a task that is paid for with names of files as its addresses.
#[test]
fn names_of_files_in_a_list_are_not_sent() {
    let schema = list_schema();
    let value = |value: serde_json::Value| Entry::Value(value);
    let text = |text: &str| Entry::Text(text.into());
    for (entry, problem) in [
        (value(json!(["cat.png"])), "the name of a file"),
        (
            value(json!(["https://a/1.png", "cat.jfif"])),
            "the name of a file",
        ),
        (text(r#"["my.cats/1.png", "2.png"]"#), "names of files"),
        (text("cat.png"), "the name of a file"),
        (text("cat.png, dog.png"), "names of files"),
        (text("cat.png\ndog.png"), "names of files"),
    ] {
        let mut table = Table::default();
        table.append(vec![listed(entry.clone())], &schema).unwrap();
        let bad: Vec<_> = table.bad().map(|(_, row)| row.problems.clone()).collect();
        assert_eq!(bad[0].len(), 1, "{entry:?}");
        assert!(bad[0][0].message.contains(problem), "{:?}", bad[0]);
        assert!(send(&mut table, &schema).is_empty(), "{entry:?}");
    }
    let mut table = Table::default();
    let addresses = value(json!(["https://a/1.png", "https://a/2,3.png"]));
    table.append(vec![listed(addresses)], &schema).unwrap();
    assert_eq!(send(&mut table, &schema).len(), 1);
}

/// Guards against files that a model with only a list of pictures does not accept.
#[test]
fn a_dropped_file_becomes_a_list_of_one() {
    let schema = list_schema();
    let columns = columns_for(&schema, Media::Image);
    let names: Vec<_> = columns.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["image_urls"]);
    let mut table = Table::default();
    let files = [file("a.png", "1"), file("b.png", "2")];
    table
        .add_files(&prompt(), "image_urls", &files, &schema)
        .unwrap();
    table.draw_nonces(&mut || 5);
    assert_eq!((table.good(), table.bad().count()), (2, 0));
    assert!(send(&mut table, &schema).is_empty());
    for row in table.rows() {
        // The tab of an earlier version sends what is valid.
        assert!(schema.validate(&row.draft, false).is_err());
    }
    let pressed = PressedRows::new(&table).unwrap();
    table.fill_files(&[uploaded("1"), uploaded("2")], &schema);
    let url = |key: &str| Some(uploaded(key).1);
    assert_eq!(pressed.next(&table, &url), FileWait::Send);
    let sent = send(&mut table, &schema);
    assert_eq!(
        sent[0]["values"]["image_urls"],
        json!(["https://a.example/1"])
    );
    assert_eq!(
        sent[1]["values"]["image_urls"],
        json!(["https://a.example/2"])
    );
}

/// Guards against a list that lacks some of its pictures.
#[test]
fn files_are_matched_to_the_names_in_a_list() {
    let schema = list_schema();
    let mut table = Table::default();
    let entry = Entry::Text("img/a.png; b.png".into());
    table.append(vec![listed(entry)], &schema).unwrap();
    let drop = |table: &mut Table, name: &str, key: &str| {
        let matches = table.match_files(&[(Media::Image, name)], &schema);
        let uses = matches.uses.into_iter();
        let uses: Vec<_> = uses.map(|of| (of, file(name, key))).collect();
        table.use_files(&uses, &schema);
        uses.len()
    };
    assert_eq!(drop(&mut table, "b.png", "2"), 1);
    assert_eq!((table.good(), table.bad().count()), (0, 1));
    assert!(schema.validate(&table.rows()[0].draft, false).is_err());
    assert_eq!(drop(&mut table, "a.png", "1"), 1);
    assert_eq!((table.good(), table.bad().count()), (1, 0));
    assert_eq!(table.file_references().len(), 2);
    let written = Writer::new(table.clone()).finish();
    assert_eq!(written, table.to_value().to_string());
    let pressed = PressedRows::new(&table).unwrap();
    let url = |key: &str| Some(uploaded(key).1);
    table.fill_files(&[uploaded("1")], &schema);
    assert!(matches!(pressed.next(&table, &url), FileWait::Wait(_)));
    assert!(send(&mut table, &schema).is_empty());
    table.fill_files(&[uploaded("2")], &schema);
    assert_eq!(pressed.next(&table, &url), FileWait::Send);
    let sent = send(&mut table, &schema);
    let urls = json!(["https://a.example/1", "https://a.example/2"]);
    assert_eq!(sent[0]["values"]["image_urls"], urls);
}

/// Guards against rows that return without the files that were being uploaded when they were removed.
#[test]
fn restored_rows_have_their_files() {
    let schema = schema();
    let mut table = two_files();
    table.clear();
    assert!(table.file_references().is_empty());
    assert_eq!(table.needed_files().len(), 2);
    let failed = FileState::Failed("a.png is broken.".into());
    let states = [
        ("1".to_owned(), failed),
        ("2".to_owned(), FileState::Uploading),
    ];
    table.set_file_states(states.into(), &schema);
    table.undo_removal();
    assert_eq!((table.good(), table.bad().count()), (1, 1));
    assert_eq!(table.file_references().len(), 2);
    table.fill_files(&[uploaded("2")], &schema);
    assert_eq!(send(&mut table, &schema).len(), 1);
    // Another removal can be undone instead.
    table.remove(table.rows()[0].id);
    table.remove(table.rows()[0].id);
    assert!(table.needed_files().is_empty());
}

/// Guards against items with several pictures that together are too large for a call, also if they are added in turn.
#[test]
fn the_pictures_of_a_row_share_its_space() {
    let schema = schema();
    let mut table = Table::default();
    assert_eq!(table.space_per_file(70_000), 70_000);
    let data = |length: usize| format!("data:image/png;base64,{}", "A".repeat(length - 22));
    let row = |first: Entry, second: Entry| {
        let mut draft = prompt();
        draft.set("image_url", first);
        draft.set("style_image", second);
        draft
    };
    let address = || Entry::Text("https://a.example/owl.png".into());
    let rows = vec![prompt(), row(file("a.png", "1").entry(), address())];
    table.append(rows, &schema).unwrap();
    assert_eq!(table.space_per_file(70_000), 70_000);
    let two = row(file("b.png", "2").entry(), file("c.png", "3").entry());
    table.append(vec![two], &schema).unwrap();
    assert_eq!(table.space_per_file(70_000), 35_000);
    let later = row(Entry::Text(data(50_000)), file("d.png", "4").entry());
    table.append(vec![later], &schema).unwrap();
    assert_eq!(table.space_per_file(70_000), 20_000);
    let full = row(Entry::Text(data(80_000)), file("e.png", "5").entry());
    table.append(vec![full], &schema).unwrap();
    assert_eq!(table.space_per_file(70_000), 0);
}
