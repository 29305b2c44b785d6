//! The page's content security policy refuses injected code.

use serde_json::json;

use crate::studio::run_until_settled;

const INJECTED: &str = r#"
    const script = document.createElement('script');
    script.textContent = 'window.ran = "script"';
    document.body.append(script);
    const holder = document.createElement('div');
    holder.innerHTML = '<img src=x onerror="window.ran = \'attribute\'"><a href="javascript:window.ran=\'address\'">a</a>'
        + '<iframe srcdoc="<script>parent.ran=\'frame\'</script>"></iframe><style>body { outline: 7px solid }</style>';
    document.body.append(holder);
    holder.querySelector('a').click();
    const other = document.createElement('script');
    other.src = 'http://localhost:1/evil.js';
    const refused = new Promise(done => { other.onerror = () => done(true); other.onload = () => done(false); });
    document.body.append(other);
    return (async () => {
        await refused;
        await new Promise(done => setTimeout(done, 500));
        let evaluates = true;
        // `window.eval`, since scripts of Firefox's driver have their own `eval`.
        try { window.eval('1') } catch { evaluates = false }
        const outline = getComputedStyle(document.body).outlineStyle;
        return [window.ran ?? null, evaluates, outline];
    })()
"#;

/// The policy does not apply to the driver's script, but to the elements that it injects.
#[tokio::test(flavor = "multi_thread")]
async fn injected_scripts_attributes_addresses_frames_and_styles_have_no_effect() {
    let name = "injected_scripts_attributes_addresses_frames_and_styles_have_no_effect";
    run_until_settled(name, async |studio| {
        studio.open("/").await?;
        // A script that fails while the page loads would count as a script of the page and reload it.
        studio.browser.wait_until_started().await?;
        let seen = studio.script(INJECTED).await?;
        assert_eq!(seen, json!([null, false, "none"]));
        Ok(())
    })
    .await;
}
