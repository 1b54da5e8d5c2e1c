/** Reads the members of a stored body. A newer member may have stored others, or other values. */

import { isObject } from '../../json/index.ts'

/** The members of a body; each reader has a value for what is missing or of another type. */
export class StoredFields {
  readonly #fields: Readonly<Record<string, unknown>>

  constructor(json: string) {
    const read: unknown = JSON.parse(json)
    this.#fields = isObject(read) ? read : {}
  }

  text<Fallback extends string | null>(name: string, fallback: Fallback): string | Fallback {
    const value = this.#fields[name]
    return typeof value === 'string' ? value : fallback
  }

  number<Fallback extends number | null>(name: string, fallback: Fallback): number | Fallback {
    const value = this.#fields[name]
    return typeof value === 'number' && Number.isFinite(value) ? value : fallback
  }

  flag(name: string): boolean {
    return this.#fields[name] === true
  }

  texts(name: string): readonly string[] {
    const value = this.#fields[name]
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
  }

  /** Objects as they were stored, whatever else they have; null if one of `needs` is missing. */
  object<Value extends object>(name: string, needs: readonly (keyof Value & string)[]):
    | Value
    | null {
    const value = this.#fields[name]
    return isObject(value) && needs.every((need) => Object.hasOwn(value, need))
      ? value as Value
      : null
  }

  objects<Value extends object>(name: string,
    needs: readonly (keyof Value & string)[]): readonly Value[] {
    const value = this.#fields[name]
    return !Array.isArray(value)
      ? []
      : value.filter((each) =>
        isObject(each) && needs.every((need) => Object.hasOwn(each, need))
      ) as Value[]
  }
}
