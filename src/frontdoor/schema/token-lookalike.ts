/** JSON web tokens in texts, which must be neither stored nor logged. */

/** Start of a JSON web token: `eyJ` where its first part begins, or after a dash in it. */
const tokenStart = /(?:^|-)eyJ[\w-]/

/**
 * True if a text holds a JSON web token, whatever its header is called: proxies pass tokens on in
 * many. Looks at each character a fixed number of times.
 */
export function holdsToken(text: string): boolean {
  if (!text.includes('eyJ')) return false
  return text.split(/[^\w.-]/).some((word) => {
    const parts = word.split('.')
    return parts.some((part, at) =>
      at + 2 < parts.length && parts[at + 1] !== '' &&
      tokenStart.test(part)
    )
  })
}
