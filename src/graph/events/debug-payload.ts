/** The engine's debug payloads, with configs turned into the API's checkpoints. */

import { isObject, listOf, memberOf, objectOf } from '../../json/index.ts'

/** An object with any members. */
export type Fields = Readonly<Record<string, unknown>>

/** A checkpoint of the API, as far as a config names one; null if it names no thread. */
export function checkpointOf(config: unknown): Fields | null {
  const { thread_id, checkpoint_id, checkpoint_ns, checkpoint_map } = configurableOf(config) ?? {}
  if (!thread_id) return null
  return {
    thread_id,
    checkpoint_id: checkpoint_id ?? null,
    checkpoint_ns: checkpoint_ns ?? '',
    checkpoint_map: checkpoint_map ?? null,
  }
}

/**
 * True for the envelope that newer engines emit before a `values` chunk. Only protocol v2 shows it.
 */
export function isEnvelope(payload: unknown): boolean {
  return isObject(payload) && typeof payload['id'] === 'string' && !('values' in payload)
}

/** A chunk of the `checkpoints` mode. */
export function checkpointPayload(payload: unknown): Fields {
  const { parentConfig, ...fields } = objectOf(payload)
  return {
    ...fields,
    config: withoutInternals(fields['config']),
    parent_config: withoutInternals(parentConfig),
    checkpoint: checkpointOf(fields['config']),
    parent_checkpoint: checkpointOf(parentConfig),
    tasks: listOf(fields['tasks']).map(taskPayload),
  }
}

/** A chunk of the `tasks` mode. A subgraph's state is named by its checkpoint. */
export function taskPayload(payload: unknown): Fields {
  const fields = objectOf(payload)
  const { state, ...task } = fields
  const checkpoint = checkpointOf(state)
  if (checkpoint === null) return fields
  return { ...task, checkpoint }
}

/** A chunk of the `debug` mode: one of the other two in an envelope. */
export function debugPayload(payload: unknown): Fields {
  const chunk = objectOf(payload)
  const { type, payload: inner } = chunk
  if (type === 'checkpoint') return { ...chunk, payload: checkpointPayload(inner) }
  if (type === 'task_result') return { ...chunk, payload: taskPayload(inner) }
  return chunk
}

function withoutInternals(config: unknown): unknown {
  const configurable = configurableOf(config)
  if (!configurable) return config
  const { callbacks: _, ...rest } = objectOf(config)
  const shown = Object.entries(configurable).filter(([key]) => !key.startsWith('__'))
  return { ...rest, configurable: Object.fromEntries(shown) }
}

function configurableOf(config: unknown): Fields | undefined {
  const configurable = memberOf(config, 'configurable')
  return isObject(configurable) ? configurable : undefined
}
