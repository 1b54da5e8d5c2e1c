/** Parts that the schemas of requests and answers are made of. */

import { Type } from 'typebox'
import type { TSchema, TSchemaOptions } from 'typebox'

import { metadataCharactersMax } from '../../search/index.ts'
import { metadataKeysMax } from '../../thread/index.ts'

/** A JSON object with any fields. */
export const JsonObject = (options: TSchemaOptions = {}) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options })

/** Any JSON. */
export const Json = (options: TSchemaOptions = {}) => Type.Unknown(options)

export const Uuid = (options: TSchemaOptions = {}) => Type.String({ format: 'uuid', ...options })

export const OneOf = <Values extends string[]>(values: readonly [...Values],
  options: TSchemaOptions = {}) => Type.Enum(values, { type: 'string', ...options })

/** Bounded, because the list is searched for each field of each row. */
export const SomeOf = <Values extends string[]>(values: readonly [...Values]) =>
  Type.Array(OneOf(values), { maxItems: 100 })

export const Nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

export const Limit = () => Type.Integer({ minimum: 1, maximum: 1_000, default: 10 })

/** The largest integer that all wires and stores take. */
export const wholeMax = 2 ** 31 - 1

export const Offset = () => Type.Integer({ minimum: 0, maximum: wholeMax, default: 0 })

/** Bounded, because threads and assistants are indexed by each key, and searches read all of it. */
export const Metadata = (options: TSchemaOptions = {}) =>
  JsonObject({ maxProperties: metadataKeysMax, 'x-max-characters': metadataCharactersMax,
    ...options })

/** Filters by containment: scalars must be equal, objects are compared recursively. */
export const MetadataFilter = () =>
  JsonObject({ description: 'Every key must be there and contain this value.' })
