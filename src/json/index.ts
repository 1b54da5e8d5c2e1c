/** JSON from clients: how it is looked through, parsed, and kept off the main thread if long. */

export { contains, isObject, nestedInLists } from './containment.ts'
export { jsonOf } from './json-text.ts'
export { leanMessages, modelOf } from './lean-message.ts'
export type { LeanMessage } from './lean-message.ts'
export { boundsOf, sliceIn } from './list-slice.ts'
export type { ListSlice, SlicePlace } from './list-slice.ts'
export { longJson, readLongJson } from './long-json.ts'
export type { LongJson } from './long-json.ts'
export { isList, isOneOf, listOf, memberOf, namesIn, objectIn, objectOf, textAt,
  valueIn } from './members.ts'
export { metadataCharactersMax, metadataKeysMax } from './metadata-bounds.ts'
export { pick } from './pick.ts'
export { requireModest } from './scan.ts'
export type { Carried } from './split.ts'
export { timeText } from './time-text.ts'
export { rawValues } from './raw-values.ts'
export { sortedMembers } from './sorted-members.ts'
export { withoutUndefined } from './without-undefined.ts'
export { NotJson, itemsAt, jsonIn, memberAt, membersAt, stringAt,
  visitMembers } from './json-bytes.ts'
export type { MemberPlace } from './json-bytes.ts'
