/** The node of a graph whose code is executed now, as the project's copy of the engine knows it. */

/** The part of the engine that knows it. The oldest ones do not have it. */
interface Engine {
  readonly getConfig?: () => { readonly metadata?: Readonly<Record<string, unknown>> } | undefined
}

/**
 * Name of the node whose code runs now; undefined outside of nodes and for engines that lack it.
 */
export function nodeOf(engine: object): string | undefined {
  const node = (engine as Engine).getConfig?.()?.metadata?.['langgraph_node']
  return typeof node === 'string' ? node : undefined
}
