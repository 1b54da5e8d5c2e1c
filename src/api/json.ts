/** Parts that the schemas of requests and answers are made of. */

import { Type } from 'typebox'
import type { TSchema, TSchemaOptions } from 'typebox'

import { metadataCharactersMax, metadataKeysMax } from '../json/index.ts'

/** Schema of a JSON object with any fields. */
export const JsonObject = (options: TSchemaOptions = {}) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, ...options })

/** Schema of any JSON value. */
export const Json = (options: TSchemaOptions = {}) => Type.Unknown(options)

/** Schema of a text, of so many characters at most. */
export const Text = (maxLength?: number) =>
  Type.String({ ...maxLength !== undefined && { maxLength } })

/** Schema of a UUID. Checked values are in lower case. */
export const Uuid = (options: TSchemaOptions = {}) => Type.String({ format: 'uuid', ...options })

/** Schema of a time in an answer, as ISO text. */
export const Time = () => Type.String({ format: 'date-time' })

/** Schema of one of these texts. */
export const OneOf = <Values extends string[]>(values: readonly [...Values],
  options: TSchemaOptions = {}) => Type.Enum(values, { type: 'string', ...options })

/** Schema of a list of these texts. Bounded, because it is searched for each field of each row. */
export const SomeOf = <Values extends string[]>(values: readonly [...Values]) =>
  Type.Array(OneOf(values), { maxItems: 100 })

/** Schema of a value or null. Clients send null for fields that they do not use. */
export const Nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

/** Schema of a member of a request that may be missing or null. */
export const Maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Nullable(schema))

/** Schema of the number of rows in a page; 10 by default. */
export const Limit = () => Type.Integer({ minimum: 1, maximum: 1_000, default: 10 })

/** The largest integer that all wires and stores take. */
export const wholeMax = 2 ** 31 - 1

/** Schema of the number of rows before a page; 0 by default. */
export const Offset = () => Type.Integer({ minimum: 0, maximum: wholeMax, default: 0 })

/** Schema of metadata. Bounded, because each key is indexed and searches read all of it. */
export const Metadata = (options: TSchemaOptions = {}) =>
  JsonObject({ maxProperties: metadataKeysMax, 'x-max-characters': metadataCharactersMax,
    ...options })

/** Schema of a filter by containment. Scalars must be equal, objects are compared recursively. */
export const MetadataFilter = () =>
  JsonObject({ description: 'Every key must exist and contain this value.' })

/** Schema of a count in an answer. */
export const Count = Type.Integer({ $id: 'Count', description: 'How many there are.' })
