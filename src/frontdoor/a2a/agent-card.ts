/** The agent card of an assistant: what it says of itself, where it is, and who may call. Pure. */

import type { AssistantRow } from '../../../proto/gen/storage/v1/row.ts'
import type { LoginSecurity } from '../../graph/index.ts'
import { isList, isObject, listOf, memberOf, objectIn, objectOf, textAt } from '../../json/index.ts'
import type { Dialect } from './methods.ts'

/** An agent card as JSON. */
export type AgentCard = Readonly<Record<string, unknown>>

/** Parts of a card besides its assistant. */
export interface CardPlace {
  /** Address at which the agent is called. */
  readonly url: string
  /** Credentials that callers need: none, or some that a login does not document. */
  readonly auth: LoginSecurity | 'open' | 'undocumented'
  /** False if the project sends no webhooks. */
  readonly pushNotifications: boolean
}

/** The credentials of a server with keys. */
export const keySecurity: LoginSecurity = {
  securitySchemes: {
    apiKey: { type: 'apiKey', description: 'An API key.', in: 'header', name: 'x-api-key' },
    bearer: { type: 'http', description: 'An API key, or a token of a user.', scheme: 'Bearer' },
  },
  security: [{ apiKey: [] }, { bearer: [] }],
}

const usualModes = ['text/plain', 'application/json']

/** The card in the form of 1.0, without members that have their usual value, for signatures. */
export function agentCard(
  row: Pick<AssistantRow, 'name' | 'graphId' | 'descriptionJson' | 'metadataJson' | 'version'>,
  { url, auth, pushNotifications }: CardPlace,
): AgentCard {
  const own = objectOf(memberOf(objectIn(row.metadataJson || '{}'), 'a2a'))
  const name = textAt(own, 'name') ?? row.name
  const description = textAt(own, 'description') ?? describedBy(row) ?? `The assistant ${name}.`
  const named = textAt(own, 'url')
  const address = named !== undefined && isWebAddress(named, undefined) ? named : url
  return withWebAddresses({
    name,
    description,
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({ url: address,
      protocolBinding: 'JSONRPC', protocolVersion })
    ),
    ...isObject(own['provider']) && { provider: own['provider'] },
    version: textAt(own, 'version') ?? String(row.version),
    ...text('documentationUrl', own['documentation_url']),
    ...text('iconUrl', own['icon_url']),
    capabilities: { streaming: true, pushNotifications, extendedAgentCard: auth !== 'open' },
    ...typeof auth === 'object' && newSecurity(auth),
    defaultInputModes: modesIn(own['input_modes']),
    defaultOutputModes: modesIn(own['output_modes']),
    skills: skillsIn(own['skills'], { id: row.graphId, name, description, tags: ['langgraph'] }),
  })
}

/** Names of members whose values are addresses. */
const addressName = /ur[il]$/i

/** Levels of a card that are shown. Metadata of an assistant may have more. */
const deepest = 20

/**
 * Leaves out addresses of other schemes, such as `javascript:`, on all levels: whoever makes an
 * assistant chooses them, and clients show them as links.
 */
function withWebAddresses<Of extends object>(value: Of): Of {
  return webValue(value, 0) as Of
}

function webValue(value: unknown, level: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (level > deepest) return null
  if (isList(value)) return value.map((each) => webValue(each, level + 1))
  const shown = Object.entries(value).filter(([name, each]) =>
    typeof each !== 'string' || !addressName.test(name) || isWebAddress(each, relativeTo)
  )
  return Object.fromEntries(shown.map(([name, each]) => [name, webValue(each, level + 1)]))
}

/** Relative addresses have no scheme of their own. */
const relativeTo = 'https://relative.invalid'

function isWebAddress(text: string, base: string | undefined): boolean {
  return /^https?:$/.test(URL.parse(text, base)?.protocol ?? '')
}

/** The card in the form of a version. */
export function cardOf(card: AgentCard, dialect: Dialect, auth: CardPlace['auth']): AgentCard {
  return dialect === '1.0' ? card : oldCard(card, auth)
}

/** In the form of 0.3. */
function oldCard(card: AgentCard, auth: CardPlace['auth']): AgentCard {
  const { supportedInterfaces, capabilities, securitySchemes: _, securityRequirements: __,
    ...rest } = card
  const url = textAt(listOf(supportedInterfaces)[0], 'url')
  const { streaming, pushNotifications, extendedAgentCard } = objectOf(capabilities)
  return { ...rest, protocolVersion: '0.3.0', url, preferredTransport: 'JSONRPC',
    capabilities: { streaming, pushNotifications, stateTransitionHistory: false },
    supportsAuthenticatedExtendedCard: extendedAgentCard,
    ...typeof auth === 'object' && oldSecurity(auth) }
}

/** One card that clients of both versions read: their members have other names. */
export function cardOfBoth(card: AgentCard, auth: CardPlace['auth']): AgentCard {
  const old = oldCard(card, auth)
  return { ...old, ...card,
    capabilities: { ...objectOf(old['capabilities']), ...objectOf(card['capabilities']) },
    ...typeof auth === 'object' && securityOfBoth(auth) }
}

function describedBy({ descriptionJson }: Pick<AssistantRow, 'descriptionJson'>):
  | string
  | undefined {
  const description: unknown = JSON.parse(descriptionJson || 'null')
  return typeof description === 'string' && description !== '' ? description : undefined
}

function text(name: string, value: unknown): Readonly<Record<string, string>> {
  return typeof value === 'string' ? { [name]: value } : {}
}

function modesIn(asked: unknown): readonly string[] {
  const modes = listOf(asked).filter((each) => typeof each === 'string')
  return modes.length > 0 ? modes : usualModes
}

function skillsIn(asked: unknown, usual: object): readonly object[] {
  const skills = isList(asked) ? asked.filter(isObject) : []
  return skills.length > 0 ? skills.map((each) => ({ ...usual, ...each })) : [usual]
}

/** Members of a card in the form of 1.0. */
function newSecurity({ securitySchemes, security }: LoginSecurity): AgentCard {
  return {
    securitySchemes: Object.fromEntries(
      Object.entries(securitySchemes).map(([name, scheme]) => [name, newScheme(scheme)]),
    ),
    securityRequirements: security.map((each) => ({
      schemes: Object.fromEntries(
        Object.entries(each).map((
          [name, scopes],
        ) => [name, scopes.length > 0 ? { list: scopes } : {}]),
      ),
    })),
  }
}

/** Members of a card in the form of 0.3, which is that of OpenAPI. */
function oldSecurity({ securitySchemes, security }: LoginSecurity): AgentCard {
  return withWebAddresses({ securitySchemes, security })
}

/** For clients of both versions: the members of a scheme have other names in each. */
function securityOfBoth(login: LoginSecurity): AgentCard {
  const { securitySchemes } = login
  const schemes = Object.entries(securitySchemes)
    .map(([name, scheme]) => [name, { ...scheme, ...newScheme(scheme) }])
  return withWebAddresses({ securitySchemes: Object.fromEntries(schemes) as object })
}

const newNames: Readonly<Record<string, string>> = { apiKey: 'apiKeySecurityScheme',
  http: 'httpAuthSecurityScheme', oauth2: 'oauth2SecurityScheme',
  openIdConnect: 'openIdConnectSecurityScheme', mutualTLS: 'mtlsSecurityScheme' }

function newScheme({ type, in: location, ...scheme }: AgentCard): AgentCard {
  const name = newNames[textAt({ type }, 'type') ?? '']
  return name === undefined ? {} : {
    [name]: { ...scheme, ...location !== undefined && { location } },
  }
}
