/** Credentials that a login documents, in the words of OpenAPI: `auth.openapi`. Pure. */

import { isList, isObject } from '../../json/index.ts'

/** Schemes of credentials by name, and which of them are needed: any one of the list. */
export interface LoginSecurity {
  readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
}

/** A card has all of it. */
const charactersMax = 16_000

const schemeTypes: ReadonlySet<unknown> = new Set(['apiKey', 'http', 'oauth2', 'openIdConnect',
  'mutualTLS'])

/** The part that cards show. What has no form of OpenAPI is left out, for it only documents. */
export function loginSecurityOf(openapi: unknown): LoginSecurity | undefined {
  if (!isObject(openapi)) return undefined
  const { components, securitySchemes = isObject(components) ? components['securitySchemes'] : {},
    security } = openapi
  const schemes = Object.entries(isObject(securitySchemes) ? securitySchemes : {})
    .filter((entry): entry is [string, Record<string, unknown>] =>
      isObject(entry[1]) && schemeTypes.has(entry[1]['type'])
    )
  if (schemes.length === 0) return undefined
  const names = new Set(schemes.map(([name]) => name))
  const needed = (isList(security) ? security : []).filter((each) =>
    isNeeded(each, names)
  ) as LoginSecurity['security']
  const found = { securitySchemes: Object.fromEntries(schemes), security: needed.length > 0
    ? needed
    : [...names].map((name) => ({ [name]: [] })) }
  return JSON.stringify(found).length > charactersMax ? undefined : found
}

function isNeeded(each: unknown, names: ReadonlySet<string>): boolean {
  return isObject(each) &&
    Object.entries(each).every(([name, scopes]) =>
      names.has(name) && isList(scopes) && scopes.every((scope) => typeof scope === 'string')
    )
}
