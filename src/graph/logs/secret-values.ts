/** Hides secrets in what graphs print: every caller that may read a run may read its lines. */

import { findCredentialForms } from '../secrets/credential-forms.ts'
import { valueFinder } from '../secrets/known-values.ts'
import { findNamedSecrets } from '../secrets/named-secrets.ts'
import { replaceSpans } from '../secrets/text-span.ts'

/** Names of variables whose values are secret. */
const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH(?!OR)|DSN|DATABASE_URL/i
/** Shorter values are words as well. */
const shortest = 8
const hidden = '[secret]'

/** Credentials by their form: in a header, in a URL, and keys of known makers. */
const forms: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${hidden}`],
  [/(:\/\/[^\s:/@]+:)[^\s/@]+@/g, `$1${hidden}@`],
  [/\b(?:sk|pk|rk|ghp|gho|xox[abp]|lsv2|hdl)[-_][\w-]{8,}/g, hidden],
]

/** Hides the values of secret variables, and what has the form of a credential. */
export function secretHider(variables: NodeJS.ProcessEnv): (text: string) => string {
  return valueHider(secretValuesOf(variables))
}

/** True for the name of a variable whose value is secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name)
}

/** The values of secret variables, and of these names, that are long enough to be no words. */
export function secretValuesOf(variables: NodeJS.ProcessEnv,
  names: readonly string[] = []): readonly string[] {
  return Object.entries(variables).flatMap(([name, value = '']) =>
    (secretName.test(name) || names.includes(name)) && value.length >= shortest ? [value] : []
  )
}

/**
 * Hides these values, short ones excepted, in each encoding, and what has the name or the form of a
 * credential.
 */
export function valueHider(secrets: readonly string[]): (text: string) => string {
  const findValues = valueFinder(secrets.filter(({ length }) => length >= shortest))
  return (text) => {
    const spans = [...findValues(text), ...findNamedSecrets(text), ...findCredentialForms(text)]
    let shown = replaceSpans(text, spans, () => hidden)
    for (const [form, instead] of forms) shown = shown.replace(form, instead)
    return shown
  }
}
