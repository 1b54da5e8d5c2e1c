/** Members that are undefined count as absent. */

/** The value without those members. */
export function withoutUndefined<Value>(
  value: { [Name in keyof Value]: Value[Name] | undefined },
): Value {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Value
}
