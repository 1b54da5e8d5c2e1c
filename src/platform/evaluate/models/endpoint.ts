/** Reads the endpoint of a serialised model from our plain form or from LangChain's. Pure. */

import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import { isSecretName } from '../../records/secrets/secrets.ts'
import { memberOf } from './dialect.ts'
import type { ModelEndpoint } from './model.ts'

/** Characters of the parameters as JSON. */
const parametersMax = 64 * 1024
const depthMax = 64
/** Members of a request that are ours to say. */
const ours: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'stream_options',
  'response_format', 'tools', 'tool_choice', 'system'])

/** A user or a password before the host of a text that is an address, as browsers read one. */
const login = /^(\s*(?:(?:https?|wss?|ftp):[\\/]*|[a-z][a-z0-9+.-]*:\/\/))[^\\/?#]*@/i

/** Defaults of a model class of LangChain, and the names of its parameters. */
interface ModelClass {
  readonly dialect: ModelEndpoint['dialect']
  /** Base URL of its models, unless the serialised model gives another one. */
  readonly url: string
  readonly secret: string
  /** Parameters by their names in the class. */
  readonly parameters: Readonly<Record<string, string>>
}

const common = { temperature: 'temperature', top_p: 'top_p', max_tokens: 'max_tokens',
  topP: 'top_p', maxTokens: 'max_tokens' } as const
const classes: Readonly<Record<string, ModelClass>> = {
  ChatOpenAI: { dialect: 'openai', url: 'https://api.openai.com/v1', secret: 'OPENAI_API_KEY',
    parameters: { ...common, stop: 'stop', seed: 'seed', frequency_penalty: 'frequency_penalty',
      presence_penalty: 'presence_penalty', frequencyPenalty: 'frequency_penalty',
      presencePenalty: 'presence_penalty', reasoning_effort: 'reasoning_effort',
      max_completion_tokens: 'max_completion_tokens' } },
  ChatAnthropic: { dialect: 'anthropic', url: 'https://api.anthropic.com',
    secret: 'ANTHROPIC_API_KEY',
    parameters: { ...common, top_k: 'top_k', topK: 'top_k', stop: 'stop_sequences',
      stop_sequences: 'stop_sequences' } },
}

const urlNames = ['openai_api_base', 'base_url', 'baseURL', 'anthropic_api_url', 'anthropicApiUrl',
  'api_url']
const keyNames = ['openai_api_key', 'anthropic_api_key', 'api_key', 'apiKey', 'openAIApiKey',
  'anthropicApiKey']
const modelNames = ['model', 'model_name', 'modelName']

/** The endpoint of a serialised model. Throws `invalid`. */
export function endpointOf(serialised: unknown): ModelEndpoint {
  if (!isObject(serialised)) throw invalid('is an object with `dialect`, `base_url` and `model`')
  // What is serialised is kept as it is, and shown.
  if (withoutLogins(serialised) !== serialised) {
    throw invalid(
      'has no user or password in an address: keep the key as a secret of the workspace',
    )
  }
  const endpoint = serialised['lc'] === undefined ? plain(serialised) : constructed(serialised)
  if (!/^https?:$/.test(URL.parse(endpoint.url)?.protocol ?? '')) {
    throw invalid('has an http(s) URL as its `base_url`')
  }
  // Parameters are shown, and spans have them.
  if (keyNames.some((name) => Object.hasOwn(endpoint.parameters, name))) throw containsKey()
  if (JSON.stringify(endpoint.parameters).length > parametersMax) {
    throw invalid(`has parameters of ${parametersMax} characters at most`)
  }
  return endpoint
}

/**
 * The same without users and passwords in addresses, at any depth: itself if it has none. Throws
 * `invalid` for what is nested deeper than any model is.
 */
export function withoutLogins(value: unknown, depth = 0): unknown {
  if (depth > depthMax) throw invalid(`is nested ${depthMax} deep at most`)
  if (typeof value === 'string') return value.replace(login, '$1')
  if (Array.isArray(value)) {
    const clean = value.map((each) => withoutLogins(each, depth + 1))
    return clean.every((each, index) => each === value[index]) ? value : clean
  }
  if (!isObject(value)) return value
  const clean = Object.entries(value).map(([name, each]) =>
    [name, withoutLogins(each, depth + 1)] as const
  )
  return clean.every(([name, each]) => each === value[name]) ? value : Object.fromEntries(clean)
}

function plain(
  { dialect, base_url: url, model, secret = null, ...parameters }: Record<string, unknown>,
): ModelEndpoint {
  if (dialect !== 'openai' && dialect !== 'anthropic') {
    throw invalid('has `openai` or `anthropic` as its `dialect`')
  }
  if (typeof url !== 'string') throw invalid('has an http(s) URL as its `base_url`')
  return { dialect, url, model: nameOf(model), secret: secretOf(secret),
    parameters: withoutOurs(parameters) }
}

function constructed({ id, kwargs }: Record<string, unknown>): ModelEndpoint {
  const name = Array.isArray(id) ? String(id.at(-1)) : ''
  if (!Object.hasOwn(classes, name) || !isObject(kwargs)) {
    throw invalid(`is one of ${Object.keys(classes).join(', ')}, or in our plain form`)
  }
  const { dialect, url, secret, parameters } = classes[name]!
  const first = (names: readonly string[]) =>
    names.map((each) => memberOf(kwargs, each)).find((value) =>
      value !== undefined && value !== null
    )
  const key = first(keyNames)
  const named = Object.entries(parameters).flatMap(([from, to]) => {
    const value = memberOf(kwargs, from)
    return value === undefined || value === null ? [] : [[to, value] as const]
  })
  const more = memberOf(kwargs, 'model_kwargs')
  const base = first(urlNames) ?? memberOf(memberOf(kwargs, 'configuration'), 'baseURL')
  return { dialect, url: typeof base === 'string' ? base : url, model: nameOf(first(modelNames)),
    secret: key === undefined ? secret : secretIn(key),
    parameters: withoutOurs({ ...isObject(more) && more, ...Object.fromEntries(named) }) }
}

/** The name in `{"lc":1,"type":"secret","id":[name]}`. */
function secretIn(key: unknown): string | null {
  const id = memberOf(key, 'id')
  if (memberOf(key, 'type') === 'secret' && Array.isArray(id)) return secretOf(id[0])
  throw containsKey()
}

function containsKey(): HeddleError {
  return invalid('names its key as a secret of the workspace, and does not contain it')
}

function secretOf(secret: unknown): string | null {
  if (secret === null || secret === '') return null
  if (typeof secret === 'string' && isSecretName(secret)) return secret
  throw invalid('has the name of a secret of the workspace as its `secret`, such as OPENAI_API_KEY')
}

function nameOf(model: unknown): string {
  if (typeof model === 'string' && model !== '' && model.length <= 500) return model
  throw invalid('has a name of at most 500 characters as its `model`')
}

function withoutOurs(parameters: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !ours.has(name)))
}

function invalid(what: string): HeddleError {
  return new HeddleError('invalid', `model: it ${what}.`)
}
