/**
 * Chooses the terms that are worth an index. The writer and the planner of a question both use
 * this: a term outside of the index is tested and never looked up.
 */

/** False for tags that have few values, or one for each span. */
export function isIndexedTag(tag: string): boolean {
  return !/^(?:graph:step:|seq:step:|langsmith:)/.test(tag)
}

/** False for metadata that has few values, or one for each span. */
export function isIndexedMetadata(key: string): boolean {
  return !/^(?:LANGSMITH_|LANGCHAIN_|OTEL_|langgraph_|__pregel)/.test(key)
}
