//! Answers the messages of a request.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::{Media, ModelId};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::super::openai_images::model_named;
use super::super::task::{cancel_one, progress_data};
use super::super::uploads::owner_of;
use super::super::{Call, run_blocking};
use super::answer::{of_task, structured};
use super::delivery::Delivery;
use super::submit::{Submitted, submit, uid};
use crate::agents::one_line;
use crate::config::McpTools;
use crate::failure::Failure;
use crate::mcp::arguments::Arguments;
use crate::mcp::tools::{
    self, CANCEL_TASK, DEFAULT_MODELS, DEFAULT_WAIT, DESCRIBE_MODEL, GENERATE, GET_TASK,
    LIST_MODELS, MAX_MODELS, MAX_REQUEST_ID, MAX_SEARCH, MAX_WAIT, REQUEST_ID, WAIT_SECONDS,
};
use crate::model::Model;
use crate::state::App;
use crate::store::Progress;

/// The first and the longest pause between two checks whether a task has ended.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// The maximum length of the name of a model and of a task, in characters.
const MAX_NAME: usize = 200;

/// The maximum length of a description in a list, in characters.
const MAX_DESCRIPTION: usize = 200;

const INSTRUCTIONS: &str = "Generates images, videos, sounds and other files with the models of this service. Find a model \
     with list_models, read its parameters with describe_model, then call generate. Only generate can cost money. A task \
     continues when a call ends: get_task returns its result.";

const JOINED: &str = "This is the task of an earlier call with the same arguments, not a second one. To generate again, pass \
     a new random text as request_id.";

const PROCESSING: &str =
    "The task has not ended. Call get_task with its task_id; don't generate again.";

/// Answers the messages of one request.
#[derive(Clone)]
pub struct Handler {
    pub app: Arc<App>,
    pub call: Arc<Call>,
    pub delivery: Arc<Delivery>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new("atelier", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server)
            .with_instructions(INSTRUCTIONS)
    }

    /// The current revision and two before, which many clients still use.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[
            ProtocolVersion::V_2025_06_18,
            ProtocolVersion::V_2025_11_25,
            ProtocolVersion::V_2026_07_28,
        ])
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut all = tools::general();
        if self.app.mcp.tools == McpTools::Each {
            all.extend(tools::typed(&self.app.models));
        }
        Ok(ListToolsResult::with_all_items(all))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Arguments::new(request.arguments);
        let result = match request.name.as_ref() {
            LIST_MODELS => self.list_models(arguments),
            DESCRIBE_MODEL => self.describe_model(arguments),
            GENERATE => self.generate(arguments, &context).await,
            GET_TASK => self.get_task(arguments, &context).await,
            CANCEL_TASK => self.cancel_task(arguments).await,
            name => self.typed(name, arguments, &context).await.ok_or_else(|| {
                let name = one_line(name, MAX_NAME);
                ErrorData::invalid_params(format!("There is no tool {name}."), None)
            })?,
        };
        Ok(result.unwrap_or_else(|failure| self.error(&failure)).into())
    }
}

impl Handler {
    /// Returns a refused call as a text that an assistant can act on.
    fn error(&self, failure: &Failure) -> CallToolResult {
        self.app.metrics.count_refusal(&failure.body.error);
        tracing::info!(reason = failure.body.error, "refused a tool call");
        let mut text = format!("{} ({})", failure.body.message, failure.body.error);
        if let Some(seconds) = failure.retry_after {
            text.push_str(&format!(" Try again in {seconds} s."));
        }
        CallToolResult::error(vec![ContentBlock::text(text)])
    }

    fn list_models(&self, mut arguments: Arguments) -> Result<CallToolResult, Failure> {
        let search = arguments.text("search", MAX_SEARCH)?.unwrap_or_default();
        let limit = arguments.number("limit", 1, MAX_MODELS)?;
        arguments.finish()?;
        let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
        let matching = || {
            self.app
                .models
                .iter()
                .filter(|model| matches(*model, &words))
        };
        let limit = limit.unwrap_or_else(|| DEFAULT_MODELS.into()) as usize;
        let models: Vec<Value> = matching()
            .take(limit)
            .map(|model| self.entry(model))
            .collect();
        Ok(structured(
            json!({"models": models, "total": matching().count()}),
        ))
    }

    fn entry(&self, model: &dyn Model) -> Value {
        let (about, id) = (model.about(), model.id());
        let mut entry = json!({
            "model": id.to_string(),
            "name": one_line(about.name, MAX_DESCRIPTION),
            "description": one_line(about.description, MAX_DESCRIPTION),
            "makes": makes(model),
        });
        let remote = self.app.models.remote(&id);
        if let Some(why) = remote.and_then(|remote| remote.unavailable()) {
            entry["unavailable"] = one_line(&why, MAX_DESCRIPTION).into();
        }
        if tools::needs_secret(&model.schema()) {
            entry["needs_secret"] = true.into();
        }
        entry
    }

    fn describe_model(&self, mut arguments: Arguments) -> Result<CallToolResult, Failure> {
        let id = self.model(&mut arguments)?;
        arguments.finish()?;
        let model = self.find(&id)?;
        let mut description = self.entry(model);
        let secret: Vec<String> = secrets(model);
        let mut schema = json!(model.schema());
        for group in ["required", "optional"] {
            if let Some(Value::Array(parameters)) =
                schema.pointer_mut(&format!("/parameters/{group}"))
            {
                parameters.retain(|parameter| secret.iter().all(|name| parameter["name"] != *name));
                for parameter in parameters.iter_mut().filter_map(Value::as_object_mut) {
                    // A list of hundreds of words.
                    parameter.remove("vocabulary");
                    tools::shorten_description(parameter);
                }
            }
        }
        description["parameters"] = schema["parameters"].take();
        Ok(structured(description))
    }

    async fn generate(
        &self,
        mut arguments: Arguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let model = self.model(&mut arguments)?;
        let input = arguments.object("input")?;
        let (wait, request_id) = rest(arguments)?;
        self.run(model, input, wait, request_id, context).await
    }

    /// Calls the tool of a single model; `None` if there is no such tool.
    async fn typed(
        &self,
        tool: &str,
        mut arguments: Arguments,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResult, Failure>> {
        let is_enabled = self.app.mcp.tools == McpTools::Each;
        let (id, schema) = {
            let model = is_enabled.then(|| tools::typed_model(&self.app.models, tool));
            let model = model.flatten()?;
            (model.id(), model.schema())
        };
        let input = arguments.parameters(&schema);
        Some(match rest(arguments) {
            Ok((wait, request_id)) => self.run(id, input, wait, request_id, context).await,
            Err(failure) => Err(failure),
        })
    }

    async fn run(
        &self,
        model: ModelId,
        input: Map<String, Value>,
        wait: Option<f64>,
        request_id: Option<String>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        self.refuse_secrets(&model, &input)?;
        let (app, call) = (self.app.clone(), self.call.clone());
        let submitting = move || submit(&app, &call, &model, &input, request_id.as_deref());
        let Submitted { id, is_joined } = run_blocking(submitting).await?;
        let wait = wait.unwrap_or_else(|| DEFAULT_WAIT.into());
        let task = self.wait_for_end(&id, wait, context).await?;
        let is_failed = task.error.is_some();
        let mut result = self.task_result(&task, is_joined, context).await;
        result.is_error = Some(is_failed);
        Ok(result)
    }

    async fn get_task(
        &self,
        mut arguments: Arguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let id = arguments.required_text("task_id", MAX_NAME)?;
        let wait = arguments.number(WAIT_SECONDS, 0, MAX_WAIT)?;
        arguments.finish()?;
        let task = self
            .wait_for_end(&id, wait.unwrap_or_default(), context)
            .await?;
        Ok(self.task_result(&task, false, context).await)
    }

    async fn cancel_task(&self, mut arguments: Arguments) -> Result<CallToolResult, Failure> {
        let id = arguments.required_text("task_id", MAX_NAME)?;
        arguments.finish()?;
        let task = self.progress(&id).await?;
        let body = json!({
            "id": task.id, "uid": task.uid,
            "category": task.model.category, "subcategory": task.model.subcategory,
        });
        let (app, call) = (self.app.clone(), self.call.clone());
        let mut data = run_blocking(move || cancel_one(&app, &call, &body)).await?;
        if let Some(fields) = data.as_object_mut() {
            let id = fields.remove("id").unwrap_or_default();
            fields.insert("task_id".into(), id);
        }
        Ok(structured(data))
    }

    async fn task_result(
        &self,
        task: &Progress,
        is_joined: bool,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let is_processing = !task.status.is_terminal();
        let notes = [
            is_joined.then_some(JOINED),
            is_processing.then_some(PROCESSING),
        ];
        let note = notes.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let note = Some(note.as_str()).filter(|note| !note.is_empty());
        let is_event = context.meta.get_progress_token().is_some();
        of_task(&self.app, &self.call, &self.delivery, task, note, is_event).await
    }

    /// Waits until a task has ended, for at most this number of seconds. Returns earlier if the client has disconnected, the
    /// service stops, or too many calls wait.
    async fn wait_for_end(
        &self,
        id: &str,
        seconds: f64,
        context: &RequestContext<RoleServer>,
    ) -> Result<Progress, Failure> {
        let began = Instant::now();
        let mut deadline = began + Duration::from_secs_f64(seconds);
        let owner = owner_of(&self.app, self.call.account.as_deref(), &self.call.token);
        let wait = self.app.waits.begin(&owner);
        if wait.is_err() {
            deadline = began;
        }
        let token = context.meta.get_progress_token();
        let mut pause = FIRST_PAUSE;
        let mut reported = began;
        loop {
            let task = self.progress(id).await?;
            let now = Instant::now();
            let is_over =
                now >= deadline || self.app.pool.is_draining() || context.ct.is_cancelled();
            if task.status.is_terminal() || is_over {
                return Ok(task);
            }
            if let Some(token) = &token
                && now.duration_since(reported) >= MAX_PAUSE
            {
                reported = now;
                let data = progress_data(&self.app, &self.call.origin, &task);
                let line = data["message"].as_str().unwrap_or("processing");
                let passed = now.duration_since(began).as_secs_f64();
                let report = ProgressNotificationParam::new(token.clone(), passed.floor())
                    .with_message(format!("{line}, task {id}"));
                // The client has disconnected if this fails.
                let _ = context.peer.notify_progress(report).await;
            }
            tokio::select! {
                () = tokio::time::sleep_until(deadline.min(now + pause)) => {}
                () = context.ct.cancelled() => {}
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Returns a task of the caller.
    async fn progress(&self, id: &str) -> Result<Progress, Failure> {
        let (app, call, id) = (self.app.clone(), self.call.clone(), id.to_owned());
        run_blocking(move || {
            let task = app.store.progress(&id).map_err(Failure::store)?;
            let own = task.filter(|task| task.uid == uid(&call));
            own.ok_or_else(|| Failure::not_found("unknown_task", "You have no task with this id."))
        })
        .await
    }

    fn model(&self, arguments: &mut Arguments) -> Result<ModelId, Failure> {
        let name = arguments.required_text("model", MAX_NAME)?;
        model_named(&self.app, &name).ok_or_else(|| {
            let name = one_line(&name, MAX_NAME);
            let message = format!("There is no model {name}; list_models lists the models.");
            Failure::not_found("unknown_model", message)
        })
    }

    fn find(&self, id: &ModelId) -> Result<&dyn Model, Failure> {
        let found = self.app.models.find(id);
        found.ok_or_else(|| Failure::not_found("unknown_model", "The model was removed."))
    }

    /// Checks that no secret is needed or given, because a chat model must not see one.
    fn refuse_secrets(&self, id: &ModelId, input: &Map<String, Value>) -> Result<(), Failure> {
        let model = self.find(id)?;
        if let Some(name) = secrets(model)
            .into_iter()
            .find(|name| input.contains_key(name))
        {
            let message =
                format!("{name} is a secret. Don't ask for it, and don't send it in a tool call.");
            return Err(Failure::invalid_field(&name, message));
        }
        if tools::needs_secret(&model.schema()) {
            let message = "This model needs a secret, which a tool call must not contain. Use the MCP server file of \
                 GET /api/mcp, which reads it from the environment.";
            return Err(Failure::bad_request(message));
        }
        Ok(())
    }
}

/// Reads the arguments that all generating tools have, after the others.
fn rest(mut arguments: Arguments) -> Result<(Option<f64>, Option<String>), Failure> {
    let wait = arguments.number(WAIT_SECONDS, 0, MAX_WAIT)?;
    let request_id = arguments.text(REQUEST_ID, MAX_REQUEST_ID)?;
    arguments.finish()?;
    Ok((wait, request_id))
}

/// Returns the names of the secret parameters.
fn secrets(model: &dyn Model) -> Vec<String> {
    let schema = model.schema();
    let secret = schema
        .parameters()
        .filter(|(parameter, _)| parameter.is_secret());
    secret
        .map(|(parameter, _)| parameter.name.clone())
        .collect()
}

fn makes(model: &dyn Model) -> &'static str {
    match model.makes() {
        Some(Media::Image) => "image",
        Some(Media::Video) => "video",
        Some(Media::Audio) => "audio",
        None => "files",
    }
}

/// Returns whether the texts of a model contain all of these words, which are in lower case.
fn matches(model: &dyn Model, words: &[String]) -> bool {
    let about = model.about();
    let texts = [
        &model.id().to_string(),
        about.name,
        about.description,
        makes(model),
    ];
    let text = texts.join(" ").to_lowercase();
    words.iter().all(|word| text.contains(word))
}
