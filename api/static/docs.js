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
  // The page has its own main landmark.
  onComplete: () => reference.querySelectorAll("main, [role=main]").forEach((one) => one.setAttribute("role", "group")),
});
