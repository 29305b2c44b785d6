//! Starts Firefox, and runs privileged scripts for operations that WebDriver has no command for.

use crate::Result;
use crate::browser::{Browser, Scheme};
use crate::driver::{Port, Program};
use hyper::Method;
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn driver() -> Program {
    let mut program = Program::named(
        "GECKODRIVER",
        "geckodriver",
        Port::Printed("Listening on 127.0.0.1:"),
    );
    // `--allow-system-access` allows scripts in the browser's own context.
    let options = ["--port=0", "--allow-system-access", "--log=info"];
    program.command.args(options);
    program
}

pub(crate) fn capabilities(profile: &Path, downloads: &Path) -> Value {
    let mut options = json!({
        "args": ["-headless", "-profile", profile, "--width=1280", "--height=985"],
        "prefs": {
            "browser.download.folderList": 2,
            "browser.download.dir": downloads,
            "browser.download.alwaysOpenPanel": false,
            "browser.download.always_ask_before_handling_new_types": false,
            "intl.accept_languages": "en",
            // Offline mode also applies to loopback addresses.
            "network.disable-localhost-when-offline": true,
            // These would send requests to the internet.
            "network.captive-portal-service.enabled": false,
            "network.connectivity-service.enabled": false,
        },
    });
    if let Some(binary) = std::env::var_os("FIREFOX") {
        options["binary"] = json!(binary.to_string_lossy());
    }
    json!({ "moz:firefoxOptions": options })
}

/// Runs a script in the browser's privileged context.
async fn run_privileged(browser: &Browser, script: &str, args: Vec<Value>) -> Result<Value> {
    let context = async |name| {
        let body = json!({ "context": name });
        browser
            .command(Method::POST, "moz/context", Some(body))
            .await
    };
    context("chrome").await?;
    let done = browser.run(script, args).await;
    context("content").await?;
    done
}

/// See [`Browser::before_each_page`].
///
/// # Errors
///
/// The driver does not answer, or the browser rejects the script.
pub(crate) async fn before_each_page(browser: &Browser, script: &str) -> Result<()> {
    // The pages of a tab may run in several processes, one after another. So load the script in all processes and
    // check the tab there.
    let register = "
        const [script] = arguments;
        const tab = gBrowser.selectedBrowser.browserId;
        const inEachPage = (tab, script) => {
            addEventListener('DOMWindowCreated', event => {
                const page = event.target.defaultView;
                if (docShell.browsingContext.browserId !== tab || page !== page.top) return;
                const sandbox = new Cu.Sandbox(page, { sandboxPrototype: page, wantXrays: false });
                Cu.evalInSandbox(script, sandbox);
            });
        };
        const source = `(${inEachPage})(${tab}, ${JSON.stringify(script)})`;
        Services.mm.loadFrameScript('data:,' + encodeURIComponent(source), true)";
    run_privileged(browser, register, vec![json!(script)]).await?;
    Ok(())
}

/// See [`Browser::set_offline`].
///
/// # Errors
///
/// The driver does not answer, or the browser rejects the script.
pub(crate) async fn set_offline(browser: &Browser, offline: bool) -> Result<()> {
    let script = "Services.io.offline = arguments[0]";
    run_privileged(browser, script, vec![json!(offline)]).await?;
    Ok(())
}

/// See [`Browser::clear_databases`].
///
/// # Errors
///
/// The driver does not answer, or the browser rejects the script.
pub(crate) async fn clear_databases(browser: &Browser, origin: &str) -> Result<()> {
    let script = "
        const principal =
            Services.scriptSecurityManager.createContentPrincipalFromOrigin(arguments[0]);
        const request = Services.qms.clearStoragesForClient(principal, 'idb');
        return new Promise(done => { request.callback = () => done(); })";
    run_privileged(browser, script, vec![json!(origin)]).await?;
    Ok(())
}

/// See [`Browser::clear_site`].
///
/// # Errors
///
/// The driver does not answer, or the browser rejects the script.
pub(crate) async fn clear_site(browser: &Browser, origin: &str) -> Result<()> {
    let script = "
        const principal =
            Services.scriptSecurityManager.createContentPrincipalFromOrigin(arguments[0]);
        const all = Ci.nsIClearDataService.CLEAR_COOKIES_AND_SITE_DATA;
        return new Promise(done =>
            Services.clearData.deleteDataFromPrincipal(principal, true, all, done))";
    run_privileged(browser, script, vec![json!(origin)]).await?;
    Ok(())
}

/// See [`Browser::clear_cache`].
///
/// # Errors
///
/// The driver does not answer, or the browser rejects the script.
pub(crate) async fn clear_cache(browser: &Browser) -> Result<()> {
    let script = "
        const all = Ci.nsIClearDataService.CLEAR_ALL_CACHES;
        return new Promise(done => Services.clearData.deleteData(all, done))";
    run_privileged(browser, script, vec![]).await?;
    Ok(())
}

/// Returns the errors that the browser reported for pages: uncaught exceptions, and violations of the content
/// security policy.
///
/// # Errors
///
/// The driver does not answer, or the browser rejects the script.
pub(crate) async fn console(browser: &Browser) -> Result<Vec<String>> {
    let script = "
        const lines = [];
        for (const message of Services.console.getMessageArray()) {
            if (!(message instanceof Ci.nsIScriptError)) continue;
            if (!message.sourceName.startsWith('http')) continue;
            const isMild = message.flags & (Ci.nsIScriptError.warningFlag | Ci.nsIScriptError.infoFlag);
            lines.push(`${isMild ? 'WARNING' : 'SEVERE'} ${message.sourceName} ${message.errorMessage}`);
        }
        Services.console.reset();
        return lines";
    let lines = run_privileged(browser, script, vec![]).await?;
    let text = |line: &Value| line.as_str().unwrap_or_default().to_owned();
    Ok(lines.as_array().into_iter().flatten().map(text).collect())
}

/// See [`Browser::set_color_scheme`].
///
/// # Errors
///
/// The driver does not answer, or the browser rejects the script.
pub(crate) async fn set_color_scheme(browser: &Browser, scheme: Scheme) -> Result<()> {
    let value = match scheme {
        Scheme::Dark => 0,
        Scheme::Light => 1,
    };
    let script = "Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', arguments[0])";
    run_privileged(browser, script, vec![json!(value)]).await?;
    Ok(())
}
