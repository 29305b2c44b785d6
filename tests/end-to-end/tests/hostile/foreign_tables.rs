//! Tables from other programs are imported correctly or refused with a message.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use serde_json::json;

use crate::service::schema;
use crate::studio::{Studio, TIMEOUT, run_until_settled};

impl Studio<'_> {
    async fn open_import(&self) -> Result<()> {
        let prompt = json!({"name": "prompt", "type": "string", "description": ""});
        let optional = [
            json!({"name": "seed", "type": "integer", "description": "", "minimum": 0, "maximum": u64::MAX}),
            json!({"name": "strength", "type": "number", "description": "", "minimum": 0, "maximum": 1}),
        ];
        self.service
            .answer("/api/schema/image/plain", &schema(&[prompt], &optional));
        self.open("/models/image/plain").await?;
        self.browser.press(&by("radio", "Batch")).await?;
        self.browser.press(&by("radio", "Import")).await
    }

    async fn choose_table(&self, bytes: &[u8]) -> Result<()> {
        // The folder is kept, since the page reads the file later.
        let folder = tempfile::tempdir()?.keep();
        let file = folder.join("table.csv");
        std::fs::write(&file, bytes)?;
        let choose = starting("button", "Choose a file");
        self.browser.choose_file(&choose, &file).await
    }
}

/// Guards against rows with U+FFFD or NUL characters that are accepted as valid and would be paid for.
#[tokio::test(flavor = "multi_thread")]
async fn tables_in_other_encodings_are_read_or_refused() {
    let name = "tables_in_other_encodings_are_read_or_refused";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        studio.open_import().await?;
        let gbk = b"prompt,seed\r\n\"\xba\xfc\xc0\xea\xd4\xda\xd1\xa9\xb5\xd8\xc0\xef\",1\r\n";
        studio.choose_table(gbk).await?;
        browser.wait_for_text("it was read as GBK", TIMEOUT).await?;
        let western = b"sep=;\r\nprompt;seed\r\nein M\xe4dchen in \xd6l;2\r\n";
        studio.press("button", "Add 1 item").await?;
        studio.choose_table(western).await?;
        browser
            .wait_for_text("it was read as Windows-1252", TIMEOUT)
            .await?;
        studio.press("button", "Add 1 item").await?;
        let utf_16: Vec<u8> = "\u{feff}prompt\tseed\r\n\u{96ea}\t3\r\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        studio.choose_table(&utf_16).await?;
        studio.press("button", "Add 1 item").await?;
        let broken = b"prompt,seed\r\nein M\xc3\xa4dchen\xe9\x9b,4\r\n";
        studio.choose_table(broken).await?;
        browser
            .wait_for_text("The file is not UTF-8 (line 2", TIMEOUT)
            .await?;
        studio.press("button", "Generate 3").await?;
        let bodies = studio.wait_for_calls("/v2/generate-batch", 1).await?;
        let prompts: Vec<_> = bodies[0]["requests"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|request| request["prompt"].clone())
            .collect();
        assert_eq!(prompts, ["狐狸在雪地里", "ein Mädchen in Öl", "雪"]);
        Ok(())
    })
    .await;
}
