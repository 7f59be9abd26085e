// The reference of the API: Swagger UI over the service's own OpenAPI document.
const reference = document.getElementById("reference");
SwaggerUIBundle({
  url: reference.dataset.openapi,
  domNode: reference,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  tryItOutEnabled: true,
  filter: true,
  syntaxHighlight: { activated: false },
  validatorUrl: null,
});
