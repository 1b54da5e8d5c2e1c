/** Parts that the schemas of requests and answers are made of. */

import { JsonObject } from '../../api/index.ts'
import { metadataCharactersMax } from '../../search/index.ts'
import { metadataKeysMax } from '../../thread/index.ts'

export { Json, JsonObject, Limit, Nullable, Offset, OneOf, SomeOf, Uuid,
  wholeMax } from '../../api/index.ts'

/** Schema of metadata. Bounded, because each key is indexed and searches read all of it. */
export const Metadata = (options: Parameters<typeof JsonObject>[0] = {}) =>
  JsonObject({ maxProperties: metadataKeysMax, 'x-max-characters': metadataCharactersMax,
    ...options })

/** Schema of a filter by containment. Scalars must be equal, objects are compared recursively. */
export const MetadataFilter = () =>
  JsonObject({ description: 'Every key must exist and contain this value.' })
