/**
 * Prices of usual models, for which a workspace need not set one of its own. They are public list
 * prices as they were known on the day of `asOf`: providers change them, so check what you are
 * billed. To update the list, change its rows and the day.
 *
 * A row has the provider, the name of the model, and US dollars for a million tokens: of the input,
 * of input that is read from a cache, of input that is written to one, and of the output. A dash is
 * a kind of token without a price of its own, which costs what the input costs. Models with a
 * higher price for long prompts have that of short ones.
 */

/** The day on which the prices were known. */
export const asOf = '2025-11-30'

/** The rows. Names are in lower case; a name that stands here twice has several hosts. */
export const table = `
openai     gpt-5.1                                  1.25    0.125    -       10
openai     gpt-5.1-chat                             1.25    0.125    -       10
openai     gpt-5.1-codex                            1.25    0.125    -       10
openai     gpt-5                                    1.25    0.125    -       10
openai     gpt-5-chat                               1.25    0.125    -       10
openai     gpt-5-codex                              1.25    0.125    -       10
openai     gpt-5-mini                               0.25    0.025    -       2
openai     gpt-5-nano                               0.05    0.005    -       0.4
openai     gpt-5-pro                                15      -        -       120
openai     gpt-4.1                                  2       0.5      -       8
openai     gpt-4.1-mini                             0.4     0.1      -       1.6
openai     gpt-4.1-nano                             0.1     0.025    -       0.4
openai     gpt-4o                                   2.5     1.25     -       10
openai     gpt-4o-2024-05-13                        5       -        -       15
openai     gpt-4o-mini                              0.15    0.075    -       0.6
openai     chatgpt-4o                               5       -        -       15
openai     o1                                       15      7.5      -       60
openai     o1-mini                                  1.1     0.55     -       4.4
openai     o1-pro                                   150     -        -       600
openai     o3                                       2       0.5      -       8
openai     o3-mini                                  1.1     0.55     -       4.4
openai     o3-pro                                   20      -        -       80
openai     o3-deep-research                         10      2.5      -       40
openai     o4-mini                                  1.1     0.275    -       4.4
openai     o4-mini-deep-research                    2       0.5      -       8
openai     gpt-4-turbo                              10      -        -       30
openai     gpt-4-0125-preview                       10      -        -       30
openai     gpt-4-1106-preview                       10      -        -       30
openai     gpt-4                                    30      -        -       60
openai     gpt-4-0613                               30      -        -       60
openai     gpt-4-32k                                60      -        -       120
openai     gpt-3.5-turbo                            0.5     -        -       1.5
openai     gpt-3.5-turbo-0125                       0.5     -        -       1.5
openai     gpt-3.5-turbo-1106                       1       -        -       2
openai     gpt-3.5-turbo-instruct                   1.5     -        -       2
openai     text-embedding-3-small                   0.02    -        -       0
openai     text-embedding-3-large                   0.13    -        -       0
openai     text-embedding-ada-002                   0.1     -        -       0
anthropic  claude-opus-4-5                          5       0.5      6.25    25
anthropic  claude-opus-4-1                          15      1.5      18.75   75
anthropic  claude-opus-4                            15      1.5      18.75   75
anthropic  claude-opus-4-0                          15      1.5      18.75   75
anthropic  claude-sonnet-4-5                        3       0.3      3.75    15
anthropic  claude-sonnet-4                          3       0.3      3.75    15
anthropic  claude-sonnet-4-0                        3       0.3      3.75    15
anthropic  claude-haiku-4-5                         1       0.1      1.25    5
anthropic  claude-3-7-sonnet                        3       0.3      3.75    15
anthropic  claude-3-5-sonnet                        3       0.3      3.75    15
anthropic  claude-3-5-haiku                         0.8     0.08     1       4
anthropic  claude-3-opus                            15      1.5      18.75   75
anthropic  claude-3-sonnet                          3       -        -       15
anthropic  claude-3-haiku                           0.25    0.03     0.3     1.25
google     gemini-3-pro                             2       0.2      -       12
google     gemini-2.5-pro                           1.25    0.125    -       10
google     gemini-2.5-flash                         0.3     0.03     -       2.5
google     gemini-2.5-flash-lite                    0.1     0.01     -       0.4
google     gemini-2.0-flash                         0.1     0.025    -       0.4
google     gemini-2.0-flash-lite                    0.075   -        -       0.3
google     gemini-1.5-pro                           1.25    0.3125   -       5
google     gemini-1.5-flash                         0.075   0.01875  -       0.3
google     gemini-1.5-flash-8b                      0.0375  0.01     -       0.15
google     gemini-embedding-001                     0.15    -        -       0
mistral    mistral-large                            2       -        -       6
mistral    mistral-large-2411                       2       -        -       6
mistral    mistral-medium                           0.4     -        -       2
mistral    mistral-medium-2505                      0.4     -        -       2
mistral    mistral-medium-2508                      0.4     -        -       2
mistral    mistral-small                            0.1     -        -       0.3
mistral    mistral-small-2503                       0.1     -        -       0.3
mistral    mistral-small-2506                       0.1     -        -       0.3
mistral    magistral-medium                         2       -        -       5
mistral    magistral-small                          0.5     -        -       1.5
mistral    codestral                                0.3     -        -       0.9
mistral    codestral-2501                           0.3     -        -       0.9
mistral    codestral-2508                           0.3     -        -       0.9
mistral    devstral-medium                          0.4     -        -       2
mistral    devstral-small                           0.1     -        -       0.3
mistral    ministral-8b                             0.1     -        -       0.1
mistral    ministral-3b                             0.04    -        -       0.04
mistral    pixtral-large                            2       -        -       6
mistral    pixtral-12b                              0.15    -        -       0.15
mistral    open-mistral-nemo                        0.15    -        -       0.15
mistral    mistral-embed                            0.1     -        -       0
deepseek   deepseek-chat                            0.28    0.028    -       0.42
deepseek   deepseek-reasoner                        0.28    0.028    -       0.42
xai        grok-4                                   3       0.75     -       15
xai        grok-4-0709                              3       0.75     -       15
xai        grok-4-fast                              0.2     0.05     -       0.5
xai        grok-4-fast-reasoning                    0.2     0.05     -       0.5
xai        grok-4-fast-non-reasoning                0.2     0.05     -       0.5
xai        grok-code-fast-1                         0.2     0.02     -       1.5
xai        grok-3                                   3       0.75     -       15
xai        grok-3-mini                              0.3     0.075    -       0.5
xai        grok-2                                   2       -        -       10
cohere     command-a                                2.5     -        -       10
cohere     command-r-plus                           2.5     -        -       10
cohere     command-r                                0.15    -        -       0.6
amazon     nova-premier                             2.5     0.625    -       12.5
amazon     nova-pro                                 0.8     0.2      -       3.2
amazon     nova-lite                                0.06    0.015    -       0.24
amazon     nova-micro                               0.035   0.00875  -       0.14
groq       llama-3.3-70b-versatile                  0.59    -        -       0.79
groq       llama-3.1-8b-instant                     0.05    -        -       0.08
groq       llama-4-scout-17b-16e-instruct           0.11    -        -       0.34
groq       llama-4-maverick-17b-128e-instruct       0.2     -        -       0.6
together   llama-3.3-70b-instruct-turbo             0.88    -        -       0.88
together   meta-llama-3.1-405b-instruct-turbo       3.5     -        -       3.5
together   meta-llama-3.1-70b-instruct-turbo        0.88    -        -       0.88
together   meta-llama-3.1-8b-instruct-turbo         0.18    -        -       0.18
together   llama-4-maverick-17b-128e-instruct-fp8   0.27    -        -       0.85
together   llama-4-scout-17b-16e-instruct           0.18    -        -       0.59
fireworks  llama-v3p3-70b-instruct                  0.9     -        -       0.9
fireworks  llama-v3p1-405b-instruct                 3       -        -       3
fireworks  llama-v3p1-70b-instruct                  0.9     -        -       0.9
fireworks  llama-v3p1-8b-instruct                   0.2     -        -       0.2
bedrock    llama4-maverick-17b-instruct             0.24    -        -       0.97
bedrock    llama4-scout-17b-instruct                0.17    -        -       0.66
bedrock    llama3-3-70b-instruct                    0.72    -        -       0.72
bedrock    llama3-1-70b-instruct                    0.72    -        -       0.72
bedrock    llama3-1-8b-instruct                     0.22    -        -       0.22
`
