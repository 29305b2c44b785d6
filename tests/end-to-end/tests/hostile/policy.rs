//! What would run if a text became markup after all: the page's own policy refuses it.

use serde_json::json;

use crate::studio::play;

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
        // The window's: in Firefox the driver's scripts have one of their own.
        try { window.eval('1') } catch { evaluates = false }
        const outline = getComputedStyle(document.body).outlineStyle;
        return [window.ran ?? null, evaluates, outline];
    })()
"#;

/// The script that injects is the driver's, to which the policy does not apply; what it injects is
/// the page's.
#[tokio::test(flavor = "multi_thread")]
async fn an_injected_script_attribute_address_frame_or_style_does_nothing() {
    play(
        "an_injected_script_attribute_address_frame_or_style_does_nothing",
        async |studio| {
            studio.open("/").await?;
            // A script that fails while the page begins would be one of its own, and begin it anew.
            studio.browser.is_at_work().await?;
            let seen = studio.script(INJECTED).await?;
            assert_eq!(seen, json!([null, false, "none"]));
            Ok(())
        },
    )
    .await;
}
