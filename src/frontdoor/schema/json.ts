/** Parts that the schemas of requests and answers are made of. */

export { Json, JsonObject, Limit, Metadata, MetadataFilter, Nullable, Offset, OneOf, SomeOf, Uuid,
  wholeMax } from '../../api/index.ts'
