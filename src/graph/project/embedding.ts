/** The project's own embedding, loaded into this worker thread when it is first needed. */

import { HeddleError } from '../../errors.ts'
import { memberOf } from '../../json/index.ts'
import { placeIn } from './code-place.ts'
import type { EmbeddingEntry } from './project-compiler.ts'
import { messageOf } from './thrown.ts'

/** Kind of the texts: parts of values that are stored, or a query by a caller. */
export type TextKind = 'documents' | 'query'

/** An Embeddings object of LangChain. */
interface Embeddings {
  embedDocuments(texts: readonly string[]): unknown
  embedQuery(text: string): unknown
}

type EmbedFunction = (texts: readonly string[]) => unknown

/** Embeds texts with user code. */
export class ProjectEmbedding {
  readonly #root: string
  readonly #entry: EmbeddingEntry | null
  #loaded: Promise<Embeddings | EmbedFunction> | undefined

  constructor(root: string, entry: EmbeddingEntry | null) {
    this.#root = root
    this.#entry = entry
  }

  /**
   * Vectors of the texts as plain data: lists of numbers, with null for a result that is not one.
   * Throws `graph_failed` if the code throws or cannot be loaded.
   */
  async embed(texts: readonly string[], kind: TextKind): Promise<unknown> {
    this.#loaded ??= this.#load()
    try {
      const made = await call(await this.#loaded, [...texts], kind)
      return Array.isArray(made) ? made.map(numbersOf) : null
    } catch (error) {
      const at = placeIn(this.#root, error)
      throw new HeddleError('graph_failed', `The embedding of store.index.embed failed` +
        `${at === undefined ? '' : ` (${at})`}: ${messageOf(error)}`, {}, { cause: error })
    }
  }

  async #load(): Promise<Embeddings | EmbedFunction> {
    if (this.#entry === null) throw new Error('the project names none')
    const { url, exportName, failure } = this.#entry
    if (failure !== null) throw new Error(failure)
    const module = await import(url) as Readonly<Record<string, unknown>>
    const found = await module[exportName]
    if (isEmbedFunction(found) || isEmbeddings(found)) return found
    throw new Error(`its file does not export "${exportName}" as a function (texts) => vectors, ` +
      'or as an Embeddings object')
  }
}

async function call(embedding: Embeddings | EmbedFunction, texts: readonly string[],
  kind: TextKind): Promise<unknown> {
  if (typeof embedding === 'function') return embedding(texts)
  if (kind === 'documents') return embedding.embedDocuments(texts)
  return Promise.all(texts.map((text) => embedding.embedQuery(text)))
}

function isEmbedFunction(value: unknown): value is EmbedFunction {
  return typeof value === 'function'
}

function isEmbeddings(value: unknown): value is Embeddings {
  return typeof memberOf(value, 'embedDocuments') === 'function' &&
    typeof memberOf(value, 'embedQuery') === 'function'
}

function numbersOf(vector: unknown): (number | null)[] | null {
  if (!isVector(vector)) return null
  return Array.from(vector, (each) => typeof each === 'number' ? each : null)
}

function isVector(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || ArrayBuffer.isView(value) && 'length' in value
}
