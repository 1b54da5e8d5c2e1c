/** Vectors of texts, made by the project's own embedding and checked before anything is stored. */

import { HeddleError } from '../errors.ts'
import { fault } from './item-rules.ts'
import { textsAt } from './item-texts.ts'

/** Turns texts into vectors, in their order. It is user code, which runs in a graph worker. */
export type Embed = (texts: readonly string[], kind: 'documents' | 'query') => Promise<unknown>

/** Index of the project that finds items by meaning. */
export interface VectorIndex {
  readonly dims: number
  /** Paths of the texts of a value. */
  readonly fields: readonly string[]
  readonly embed: Embed
}

/** Texts of one item at most. */
const textsMax = 100

/** Vectors as an item holds them. */
export interface ItemVectors {
  /** Base64 of floats of 32 bits. */
  readonly vectors: string
  readonly dims: number
}

/** Vectors of an item that has none. */
export const noVectors: ItemVectors = { vectors: '', dims: 0 }

/** The vectors of a value. `paths` replaces the fields of the index. */
export async function vectorsOf(index: VectorIndex, value: unknown,
  paths: readonly string[] = index.fields): Promise<ItemVectors> {
  const texts = textsAt(value, paths).filter((text) => text.trim() !== '')
  if (texts.length === 0) return noVectors
  if (texts.length > textsMax) {
    throw fault('index', `names ${texts.length} texts of this value; ${textsMax} may be embedded`)
  }
  const vectors = await embedded(index, texts, 'documents')
  return { vectors: Buffer.concat(vectors.map(bytesOf)).toString('base64'), dims: index.dims }
}

/** The vector of what is asked. */
export async function vectorOf(index: VectorIndex, query: string): Promise<number[]> {
  const [vector] = await embedded(index, [query], 'query')
  return vector!
}

async function embedded({ embed, dims }: VectorIndex, texts: readonly string[],
  kind: 'documents' | 'query'): Promise<number[][]> {
  const made = await embed(texts, kind)
  if (!Array.isArray(made) || made.length !== texts.length) {
    throw wrong(`must return a list of ${texts.length} vectors, one for each text`)
  }
  return made.map((vector: unknown) => {
    if (!isVector(vector)) throw wrong('must return vectors: lists of finite numbers')
    const numbers = Array.from(vector)
    if (numbers.length === dims) return numbers
    throw wrong(`returned a vector of ${numbers.length} numbers; store.index.dims is ${dims}`)
  })
}

function isVector(value: unknown): value is ArrayLike<number> & Iterable<number> {
  const isSequence = Array.isArray(value) || value instanceof Float32Array
    || value instanceof Float64Array
  return isSequence && Array.from<unknown>(value).every(isFloat)
}

/** Finite, also as 32 bits hold it: a score of it would be no number. */
function isFloat(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && Number.isFinite(Math.fround(value))
}

/** Error of a wrong embedding. Asking again does not help, so it is no 5xx. */
function wrong(what: string): HeddleError {
  return new HeddleError('graph_failed', `The embedding of store.index.embed ${what}.`)
}

function bytesOf(vector: readonly number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(vector).buffer)
}
