/** Parts that the schemas of requests and answers are made of. */

export { Json, JsonObject, Nullable, Offset, OneOf, Uuid } from '../../api/index.ts'
