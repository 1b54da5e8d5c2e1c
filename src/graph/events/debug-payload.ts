/** The engine's debug payloads, with configs turned into the API's checkpoints. */

/** An object with any members. */
export type Fields = Record<string, unknown>

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
  const fields = payload as Fields
  return typeof fields?.id === 'string' && !('values' in fields)
}

/** A chunk of the `checkpoints` mode. */
export function checkpointPayload(payload: unknown): Fields {
  const { parentConfig, ...fields } = payload as Fields
  return {
    ...fields,
    config: withoutInternals(fields.config),
    parent_config: withoutInternals(parentConfig),
    checkpoint: checkpointOf(fields.config),
    parent_checkpoint: checkpointOf(parentConfig),
    tasks: (fields.tasks as unknown[]).map(taskPayload),
  }
}

/** A chunk of the `tasks` mode. A subgraph's state is named by its checkpoint. */
export function taskPayload(payload: unknown): Fields {
  const { state, ...task } = payload as Fields
  const checkpoint = checkpointOf(state)
  if (checkpoint === null) return payload as Fields
  return { ...task, checkpoint }
}

/** A chunk of the `debug` mode: one of the other two in an envelope. */
export function debugPayload(payload: unknown): Fields {
  const chunk = payload as Fields
  if (chunk.type === 'checkpoint') return { ...chunk, payload: checkpointPayload(chunk.payload) }
  if (chunk.type === 'task_result') return { ...chunk, payload: taskPayload(chunk.payload) }
  return chunk
}

function withoutInternals(config: unknown): unknown {
  const configurable = configurableOf(config)
  if (!configurable) return config
  const { callbacks: _, ...rest } = config as Fields
  const shown = Object.entries(configurable).filter(([key]) => !key.startsWith('__'))
  return { ...rest, configurable: Object.fromEntries(shown) }
}

function configurableOf(config: unknown): Fields | undefined {
  return (config as { configurable?: Fields } | undefined)?.configurable
}
