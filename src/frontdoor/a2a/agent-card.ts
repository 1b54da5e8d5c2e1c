/** The agent card of an assistant: what it says of itself, where it is, and who may call. Pure. */

import type { AssistantRow } from '../../../proto/gen/storage/v1/row.ts'
import { isList, isObject, listOf, memberOf, objectIn, objectOf, textAt } from '../../json/index.ts'
import type { Dialect } from './methods.ts'

/** An agent card as JSON. */
export type AgentCard = Readonly<Record<string, unknown>>

/** Parts of a card besides its assistant. */
export interface CardPlace {
  /** Address at which the agent is called. */
  readonly url: string
  /** Credentials that callers need: none, or those of the server. */
  readonly auth: 'none' | 'keys'
  /** False if the project sends no webhooks. */
  readonly pushNotifications: boolean
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
  const address = textAt(own, 'url') ?? url
  return {
    name,
    description,
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({ url: address,
      protocolBinding: 'JSONRPC', protocolVersion })
    ),
    ...isObject(own['provider']) && { provider: own['provider'] },
    version: textAt(own, 'version') ?? String(row.version),
    ...text('documentationUrl', own['documentation_url']),
    ...text('iconUrl', own['icon_url']),
    capabilities: { streaming: true, pushNotifications, extendedAgentCard: auth === 'keys' },
    ...auth === 'keys' && { securitySchemes: schemes, securityRequirements: requirements },
    defaultInputModes: modesIn(own['input_modes']),
    defaultOutputModes: modesIn(own['output_modes']),
    skills: skillsIn(own['skills'], { id: row.graphId, name, description, tags: ['langgraph'] }),
  }
}

const schemes = {
  apiKey: {
    apiKeySecurityScheme: { description: 'An API key.', location: 'header', name: 'x-api-key' },
  },
  bearer: {
    httpAuthSecurityScheme: { description: 'An API key, or a token of a user.', scheme: 'Bearer' },
  },
}
const requirements = [{ schemes: { apiKey: {} } }, { schemes: { bearer: {} } }]

const oldSchemes = {
  apiKey: { type: 'apiKey', description: 'An API key.', in: 'header', name: 'x-api-key' },
  bearer: { type: 'http', description: 'An API key, or a token of a user.', scheme: 'Bearer' },
}

/** The card in the form of a version. */
export function cardOf(card: AgentCard, dialect: Dialect): AgentCard {
  return dialect === '1.0' ? card : oldCard(card)
}

/** In the form of 0.3. */
function oldCard(card: AgentCard): AgentCard {
  const { supportedInterfaces, capabilities, securitySchemes, securityRequirements: _, ...rest } =
    card
  const url = textAt(listOf(supportedInterfaces)[0], 'url')
  const { streaming, pushNotifications, extendedAgentCard } = objectOf(capabilities)
  return { ...rest, protocolVersion: '0.3.0', url, preferredTransport: 'JSONRPC',
    capabilities: { streaming, pushNotifications, stateTransitionHistory: false },
    supportsAuthenticatedExtendedCard: extendedAgentCard, ...securitySchemes !== undefined &&
    { securitySchemes: oldSchemes, security: [{ apiKey: [] }, { bearer: [] }] } }
}

/** One card that clients of both versions read: their members have other names. */
export function cardOfBoth(card: AgentCard): AgentCard {
  const both = (name: 'apiKey' | 'bearer') => ({ ...oldSchemes[name], ...schemes[name] })
  return { ...oldCard(card), ...card,
    capabilities: { ...objectOf(oldCard(card)['capabilities']), ...objectOf(card['capabilities']) },
    ...card['securitySchemes'] !== undefined &&
      { securitySchemes: { apiKey: both('apiKey'), bearer: both('bearer') } } }
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
