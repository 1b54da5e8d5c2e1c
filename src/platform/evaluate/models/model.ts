/** Models of customers: where one is called, what it is asked, and what it answers. */

/** URL, dialect, model, secret and parameters with which a model is called. */
export interface ModelEndpoint {
  /** API format of the endpoint: chat completions of OpenAI, or messages of Anthropic. */
  readonly dialect: 'openai' | 'anthropic'
  /** The base of its API, such as `https://api.example.com/v1`. */
  readonly url: string
  /** Name of the model there. */
  readonly model: string
  /** Name of a secret of the workspace; null for an endpoint without a key. */
  readonly secret: string | null
  /** Members that are sent as they are, such as `temperature`. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** One message to a model. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
}

/** A tool that a model may call. Nothing is called: its calls are shown. */
export interface ModelTool {
  readonly name: string
  readonly description?: string
  /** JSON schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** A call of a tool that a model asks for. */
export interface ToolCall {
  readonly name: string
  /** As JSON; a text if the model wrote none. */
  readonly args: unknown
}

/** An image that belongs to the last message of the user. */
export interface ModelImage {
  /** Such as `image/png`. */
  readonly mediaType: string
  readonly base64: string
}

/** One question to a model. */
export interface ModelCall {
  readonly endpoint: ModelEndpoint
  readonly messages: readonly ChatMessage[]
  /** JSON schema of the answer. Without tools. */
  readonly schema?: Readonly<Record<string, unknown>>
  readonly tools?: readonly ModelTool[]
  readonly images?: readonly ModelImage[]
  /** Own secrets of this call, which are not kept. */
  readonly secrets?: Readonly<Record<string, string>>
}

/** Answer of a model: its text, the parsed JSON and the tokens used. */
export interface ModelAnswer {
  readonly text: string
  /** Parsed, if a schema was asked for. */
  readonly json?: unknown
  /** Tools that it wants called, in its order. */
  readonly toolCalls?: readonly ToolCall[]
  /** Null if the endpoint does not say. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | null
}

/** A piece of an answer, or the whole of it at the end. */
export type ModelPiece = { readonly text: string } | { readonly end: ModelAnswer }

/**
 * Calls models. All methods throw the signal's reason if that aborts; `invalid` for a call that
 * cannot be made; `model_failed` with what the endpoint says, and with `retryAfterSeconds` if the
 * same call may succeed later.
 */
export interface Models {
  ask(tenant: string, call: ModelCall, signal: AbortSignal): Promise<ModelAnswer>
  /** The last piece is the end. Leaving the pieces cuts the call. */
  stream(tenant: string, call: ModelCall, signal: AbortSignal): AsyncIterable<ModelPiece>
}
